import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { pay } from '../../src/actions/payments/pay.ts'
import { promptPoll } from '../../src/actions/providers/callbacks.ts'
import type { Poller } from '../../src/runtime/localWorkers.ts'
import { openDb, sql } from '../../src/store/db.ts'
import { recordCallbacks } from '../../src/store/payments/callbacks.ts'
import { claimDueAttempts } from '../../src/store/payments/dueAttempts.ts'
import { withoutSkipLocked } from '../support/database/withoutSkipLocked.ts'
import { changesOn } from '../support/gateway/runtime.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { after, noon, pending, seconds } from '../support/payments/rows.ts'
import { aPayRequest, simulatedAccount, simulatedNode } from '../support/payments/simulatedNode.ts'

let lives: PaymentDatabase
let shared: ReturnType<typeof changesOn>
beforeAll(async () => {
  lives = await openPaymentDatabase()
  shared = changesOn(lives.db)
})
afterAll(() => lives.close())
afterEach(() => void (shared.localWorkers.poller = undefined))

const clock = () => after(seconds(1))
const lease = { now: clock(), until: after(seconds(30)) }
const knock = (attempt_id: string) =>
  promptPoll({ ...shared, clock, wake: who => woken.push(who) }, attempt_id)
let woken: string[] = []

function asks(room: number) {
  woken = []
  const asked: string[] = []
  const asker: Poller = {
    room: () => room,
    lease: () => lease,
    opened: () => [simulatedAccount],
    poll: attempt => void asked.push(attempt.attempt_id),
  }
  shared.localWorkers.poller = asker
  return asked
}

const line = { start: () => Promise.resolve(pending), check: () => Promise.resolve(pending) }

async function attempts(count: number): Promise<string[]> {
  const payments = await lives.addPayments(count, noon)
  const node = simulatedNode(lives.db, () => noon, line)
  await Promise.all(
    payments.map((payment, at) =>
      pay(node, payment, aPayRequest({ address: `192.0.2.${at}`, input: { phone: `024${1_000_000 + at}` } })),
    ),
  )
  const lived = await lives.read(payments.map(({ tx_reference }) => tx_reference))
  return lived.map(life => life.attempts[0]?.attempt_id as string)
}

const claimed = async () =>
  (await claimDueAttempts(lives.db, [{ ...simulatedAccount, callback_received: true, most: 50 }], lease)).map(
    ({ attempt_id }) => attempt_id,
  )

test('whoever has room asks at once, and nobody else does; the others are due', async () => {
  const ids = await attempts(5)
  const asked = asks(3)
  expect(await Promise.all(ids.map(knock))).toEqual(ids.map(() => true))
  expect(asked).toHaveLength(3)
  expect(woken).toEqual(['pollers', 'pollers'])
  expect((await claimed()).toSorted()).toEqual(ids.filter(id => !asked.includes(id)).toSorted())
})

test('a database that does not skip over merchants takes them by another way', async () => {
  const ids = await attempts(3)
  const found = await recordCallbacks(
    withoutSkipLocked(lives.db).db,
    ids.map((attempt_id, at) => ({ merchant_id: lives.merchant_id, attempt_id, isTaken: at > 0 })),
    lease,
    [simulatedAccount],
  )
  expect(found.map(({ attempt_id }) => attempt_id).toSorted()).toEqual(ids.toSorted())
  expect(await claimed()).toEqual(ids.slice(0, 1))
})

test('with no room, or nobody who asks here, all of them are due', async () => {
  for (const prepare of [() => asks(0), () => ((woken = []), [])]) {
    const ids = await attempts(2)
    const asked = prepare()
    await Promise.all(ids.map(knock))
    expect([asked, woken]).toEqual([[], ['pollers', 'pollers']])
    expect((await claimed()).toSorted()).toEqual(ids.toSorted())
    shared.localWorkers.poller = undefined
  }
})

test('a callback for an account that is not open here makes it due for other nodes, unleased and uncounted', async () => {
  const [ours = '', others = '', live = ''] = await attempts(3)
  await lives.db.rows(sql`update attempts set account_identity = 'other' where attempt_id = ${others}`)
  await lives.db.rows(sql`update attempts set mode = 'live' where attempt_id = ${live}`)
  const asked = asks(10)
  expect(await Promise.all([knock(ours), knock(others), knock(live)])).toEqual([true, true, true])
  expect([asked, woken]).toEqual([[ours], ['pollers', 'pollers']])
  const stored = await lives.db.rows(sql`
    select polls, lease_until, callback_received, next_poll_at <= ${lease.now} as is_due from attempts
    where attempt_id = any(${[others, live]})`)
  const unleased = { polls: 0, lease_until: null, callback_received: true, is_due: true }
  expect(stored).toEqual([unleased, unleased])
  expect(await claimed()).toEqual([])
})

test('twice for one attempt is asked once; what is not there is nobody’s', async () => {
  const [id = ''] = await attempts(1)
  const asked = asks(10)
  expect(await Promise.all([knock(id), knock(id), knock('0'.repeat(36))])).toEqual([true, true, false])
  expect(asked).toEqual([id])
})

test('one that somebody holds does not keep the others waiting, and is due when it is let go', async () => {
  const [held = '', free = ''] = await attempts(2)
  const asked = asks(10)
  const other = openDb(lives.url, 1)
  let letGo: (() => void) | undefined
  const released = new Promise<void>(resolve => void (letGo = resolve))
  let isHeld: (() => void) | undefined
  const holds = new Promise<void>(resolve => void (isHeld = resolve))
  const holding = other.transaction(async tx => {
    await tx.rows(sql`
      select from attempts where merchant_id = ${lives.merchant_id} and attempt_id = ${held} for update`)
    isHeld?.()
    await released
  })
  await holds
  const waiting = knock(held)
  expect(await knock(free)).toBe(true)
  expect(asked).toEqual([free])
  letGo?.()
  await holding
  expect(await waiting).toBe(true)
  expect([asked, await claimed()]).toEqual([[free], [held]])
  await other.end()
})
