import { afterAll, beforeAll, expect, test } from 'vitest'
import { raiseRefusals } from '../../../src/actions/channels/raiseRefusals.ts'
import { createHealthSharing } from '../../../src/actions/channels/shareHealth.ts'
import { readChannelStatus } from '../../../src/actions/channels/status.ts'
import { pay } from '../../../src/actions/payments/pay.ts'
import type { Reply } from '../../../src/core/channel/reply.ts'
import type { News } from '../../../src/core/payment/change.ts'
import { createKeepers } from '../../../src/runtime/channels/keeper.ts'
import { channelsOf } from '../../../src/runtime/channels.ts'
import { sql } from '../../../src/store/db.ts'
import { type Lives, openLives } from '../../support/lifeDb.ts'
import { aWish, simulatedNode, simulatedWay, terms } from '../../support/lifeNode.ts'
import { pending } from '../../support/lifeRows.ts'

let lives: Lives
beforeAll(async () => {
  lives = await openLives()
})
afterAll(() => lives.close())

const refused: Reply = {
  state: 'not_sent',
  words: 'The key 0241234567 is not taken (HTTP 401).',
  isRefusal: true,
}
const outage: Reply = { state: 'not_sent', words: 'connect ECONNREFUSED' }
const clock = () => new Date()

// A gateway whose provider says one thing to every order.
function node() {
  let says: Reply = refused
  const keepers = createKeepers()
  const line = { start: () => Promise.resolve(says), check: () => Promise.resolve(says) }
  const channel = { mode: 'test' as const, ways: [simulatedWay], ...terms, ...line }
  const channels = channelsOf(new Map([['simulated', channel]]), undefined, keepers)
  const deps = { ...simulatedNode(lives.db, clock, line), channels }
  const alarms: News[] = []
  const { step } = createHealthSharing({ db: lives.db, clock, keepers })
  return {
    says: (reply: Reply) => void (says = reply),
    alarms,
    keepers,
    async order() {
      const [payment] = await lives.addPayments(1, new Date())
      if (!payment) throw new Error('no payment')
      const typed = { phone: `024${String(Math.random()).slice(2, 9)}` }
      await pay(deps, payment, aWish({ typed }))
      await step()
      await raiseRefusals({ db: lives.db, clock, keepers, watch: news => void alarms.push(news) })
    },
  }
}
const tasks = () =>
  lives.db.rows<{ note: string; is_open: boolean }>(sql`
    select note, closed_at is null as is_open from tasks where kind = 'account_refused' order by created_at`)
const status = async () => (await readChannelStatus(lives.db, new Date()))[0]

test('a refused account raises one task, on all nodes together, until it is accepted again', async () => {
  const [one, other] = [node(), node()]
  for (let times = 0; times < 3; times++) await one.order()
  await other.order()
  const note = expect.stringMatching(
    /^The provider refuses the credentials of simulated: The key ••• is not|024 •••/,
  )
  expect(await tasks()).toEqual([{ note, is_open: true }])
  expect([one.alarms.length, other.alarms.length]).toEqual([1, 0])
  expect(one.alarms[0]?.tasks[0]?.kind).toBe('account_refused')
  expect(await status()).toMatchObject({
    is_refused: true,
    last_error: expect.stringContaining('(HTTP 401)'),
  })
  expect(one.keepers.windows.isRefused('simulated')).toBe(true)

  other.says(pending)
  await other.order()
  expect(await tasks()).toEqual([{ note, is_open: false }])
  expect(await status()).toMatchObject({ is_refused: false, last_error: null })

  one.says(pending)
  await one.order()
  one.says(refused)
  await one.order()
  expect((await tasks()).filter(({ is_open }) => is_open)).toHaveLength(1)
  one.says(pending)
  await one.order()
})

test('an outage is no refusal: the words are shown, and no task is raised', async () => {
  const one = node()
  one.says(outage)
  for (let times = 0; times < 2; times++) await one.order()
  expect((await tasks()).filter(({ is_open }) => is_open)).toEqual([])
  expect(await status()).toMatchObject({ is_refused: false, last_error: 'connect ECONNREFUSED' })
  expect(one.keepers.windows.isRefused('simulated')).toBe(false)
})
