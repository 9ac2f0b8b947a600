import { setTimeout as sleep } from 'node:timers/promises'
import type { PatroniMember } from '../../cluster/patroni.ts'
import { query } from '../../support/database/database.ts'
import type { Fault, Turn } from './fault.ts'

const needs: Fault['needs'] = ({ database: { patroni } }) =>
  patroni ? undefined : '--database patroni: a primary and its standby'

const failoverWithinMs = 90_000
const pollMs = 50

// The primary and its Patroni are killed. The standby is promoted when the lease of the primary has ended; later the old
// primary returns as a standby, by Patroni.
export const failover: Fault = {
  name: 'failover by Patroni',
  needs,
  async inject(turn) {
    const old = await killPrimary(turn)
    old.start()
    await standbyIsBack(turn)
  },
}

// The old primary is started without Patroni, so that two servers accept writes. No node may use it.
export const oldPrimary: Fault = {
  name: 'an old primary that returns',
  needs,
  async inject(turn) {
    const { chance, say, servesAgain, installation, failed } = turn
    const old = await killPrimary(turn)
    const stop = await old.startAlone()
    const before = await paymentsAt(old)
    say('the old primary accepts writes, all connections are cut, and one node starts again')
    await chance.pick(installation.nodes).kill() // it has seen neither server before
    for (let n = 0; n < 5; n++) {
      const url = await installation.database.primaryUrl()
      await query(url, endSessions).catch(() => {})
      await sleep(300 + chance.random() * 700)
    }
    await servesAgain('serves after the fault')
    const after = await paymentsAt(old)
    if (after !== before) failed(`the old primary was given ${Number(after) - Number(before)} payments`)
    await stop()
    old.start()
    await standbyIsBack(turn)
  },
}

const endSessions = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tollgate'`

const paymentsAt = async ({ url }: PatroniMember): Promise<string> => {
  const [row] = await query(url, 'select count(*) as n from payments')
  return row.n
}

async function killPrimary({ installation: { database }, say, servesAgain }: Turn): Promise<PatroniMember> {
  const { patroni } = database
  const old = await patroni?.primary()
  if (!patroni || !old) throw new Error('there is no primary')
  say(`kills the primary ${old.name}`)
  const killedAt = performance.now()
  await old.kill()
  while (!(await patroni.primary())) {
    if (performance.now() - killedAt > failoverWithinMs) throw new Error('no standby was promoted')
    await sleep(pollMs)
  }
  say(`the standby accepts writes after ${((performance.now() - killedAt) / 1000).toFixed(1)} s`)
  await servesAgain('serves after the database accepts writes')
  return old
}

// The next failover needs it.
async function standbyIsBack({ installation: { database }, say }: Turn) {
  const members = database.patroni?.members ?? []
  for (const since = performance.now(); performance.now() - since < 2 * failoverWithinMs; await sleep(500)) {
    const following = await Promise.all(members.map(member => member.follows()))
    if (following.includes(true)) return say('the old primary follows')
  }
  throw new Error('the old primary does not follow')
}
