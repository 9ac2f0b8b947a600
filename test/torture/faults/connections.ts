import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { lockRows } from '../../support/database/lockRows.ts'
import { cuts } from '../../support/database/postgresProxy.ts'
import type { Installation } from '../installation.ts'
import type { Fault } from './fault.ts'

const proxiesOf = ({ nodes }: Installation) => nodes.flatMap(({ proxies }) => proxies)

export const cutCommits: Fault = {
  name: 'connections cut around COMMIT',
  async inject({ installation, isLong, chance, servesAgain }) {
    const proxies = proxiesOf(installation)
    const writes = /^\s*(insert|update|delete|with|commit)/i
    for (const proxy of proxies)
      proxy.onStatement = text =>
        writes.test(text) && chance.random() < 0.12 ? chance.pick(cuts) : undefined
    await sleep(isLong ? 15_000 : 5000)
    for (const proxy of proxies) proxy.onStatement = () => undefined
    await servesAgain('serves after the fault')
  },
}

export const slowDatabase: Fault = {
  name: 'latency of the database',
  async inject({ installation, isLong, chance, servesAgain }) {
    const proxies = proxiesOf(installation)
    for (const proxy of proxies) proxy.delayMs = 50 + Math.floor(chance.random() * 250)
    await sleep(isLong ? 15_000 : 4000)
    for (const proxy of proxies) proxy.delayMs = 0
    await servesAgain('serves after the fault')
  },
}

export const blackHole: Fault = {
  name: 'black hole before the database',
  async inject({ installation, isLong, servesAgain }) {
    const proxies = proxiesOf(installation)
    for (const proxy of proxies) proxy.hold()
    await sleep(isLong ? 20_000 : 5000)
    for (const proxy of proxies) proxy.release()
    await servesAgain('serves after the fault')
  },
}

// The database refuses a node's connections, or does not answer, while the other nodes reach it.
export const partedNodes: Fault = {
  name: 'nodes parted from the database in turn',
  async inject({ installation: { nodes }, isLong, chance, servesAgain }) {
    for (const { name, proxies } of nodes) {
      const isSilent = chance.random() < 0.5
      for (const proxy of proxies)
        if (isSilent) proxy.hold()
        else await proxy.goDown()
      await sleep(isLong ? 6000 : 1500)
      for (const proxy of proxies)
        if (isSilent) proxy.release()
        else await proxy.comeUp()
      await servesAgain(
        'serves after the fault',
        nodes.filter(node => node.name === name),
      )
    }
  },
}

// The same where packets are lost: nothing is refused, and what was sent is sent again later.
export const partedNetworks: Fault = {
  name: 'nodes parted by network namespaces in turn',
  needs: ({ nodes }) =>
    nodes.every(({ link }) => link)
      ? undefined
      : 'root and ip: apt-get install iproute2 (not in the short form of the proof)',
  async inject({ installation: { nodes }, isLong, servesAgain }) {
    for (const node of nodes) {
      node.link?.cut()
      await sleep(isLong ? 8000 : 2000)
      node.link?.mend()
      await servesAgain('serves after the fault', [node])
    }
  },
}

// Every connection that the server allows is taken, and the nodes have lost theirs.
export const exhaustedConnections: Fault = {
  name: 'exhausted connections of the database',
  async inject({ installation: { database }, isLong, servesAgain }) {
    const taken: Client[] = []
    const endSessions = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tollgate%'
      and pid <> pg_backend_pid()`
    const url = await database.primaryUrl()
    const admin = new Client({ connectionString: database.one?.adminUrl ?? url })
    admin.on('error', () => {})
    await admin.connect()
    try {
      while (await connects(url, taken));
      await admin.query(endSessions)
      while (await connects(url, taken));
      await sleep(isLong ? 10_000 : 3500)
    } finally {
      await Promise.all([admin, ...taken].map(client => client.end().catch(() => {})))
    }
    await servesAgain('serves after the fault')
  },
}

const mostTaken = 500

async function connects(url: string, taken: Client[]): Promise<boolean> {
  const client = new Client({ connectionString: url, application_name: 'torture' })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch {
    return false
  }
  taken.push(client)
  return taken.length < mostTaken
}

// The latest payments, their attempts and their deliveries are locked by a transaction that does not end.
export const heldRows: Fault = {
  name: 'a long transaction that holds rows',
  async inject({ installation: { database }, isLong, servesAgain }) {
    const url = await database.primaryUrl()
    const held: (() => Promise<void>)[] = []
    const latest =
      '(merchant_id, tx_reference) in (select merchant_id, tx_reference from payments order by created_at desc limit 20)'
    for (const table of ['payments', 'attempts', 'deliveries'])
      held.push(await lockRows(url, `select from ${table} where ${latest}`).catch(() => async () => {}))
    await sleep(isLong ? 20_000 : 5000)
    for (const release of held) await release()
    await servesAgain('serves after the fault')
  },
}
