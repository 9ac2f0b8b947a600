import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay } from '../../src/actions/payments/pay.ts'
import { promptPoll } from '../../src/actions/providers/callbacks.ts'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { claimDueAttempts } from '../../src/store/payments/dueAttempts.ts'
import { changesOn } from '../support/gateway/runtime.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { after, hours, noon, pending, seconds, unclear } from '../support/payments/rows.ts'
import {
  aPayRequest,
  recordingAccount,
  simulatedAccount,
  simulatedNode,
} from '../support/payments/simulatedNode.ts'
import { expireDue } from '../support/payments/expireDue.ts'

const workers = 4
const payments = 60
let lives: PaymentDatabase
let pools: Db[]
let shared: ReturnType<typeof changesOn>

beforeAll(async () => {
  lives = await openPaymentDatabase()
  shared = changesOn(lives.db)
  pools = Array.from({ length: workers }, () => openDb(lives.url, 2))
})
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end()))
  await lives.close()
})

const fail = (error: unknown) => expect(error).toBeUndefined()
const request = (at: number) =>
  aPayRequest({ address: `192.0.2.${at}`, input: { phone: `024${1_000_000 + at}` } })
const knock = (id: string) => promptPoll({ ...shared, clock: () => noon, wake() {} }, id)

async function payAll(count: number) {
  const all = await lives.addPayments(count, noon)
  const node = simulatedNode(
    lives.db,
    () => noon,
    recordingAccount(() => unclear),
  )
  await Promise.all(all.map((payment, at) => pay(node, payment, request(at))))
  return all.map(({ tx_reference }) => tx_reference)
}

const room = { ...simulatedAccount, callback_received: false, most: 20 }
const claimAll = async (now: Date) => {
  const claims = pools.flatMap(pool =>
    Array.from({ length: 2 }, () => claimDueAttempts(pool, [room], { now, until: after(seconds(20), now) })),
  )
  return (await Promise.all(claims)).flat().map(({ attempt_id }) => attempt_id)
}

test('workers that take at once never take the same, and take again what was not finished in time', async () => {
  await payAll(payments)
  const first = await claimAll(after(seconds(10)))
  expect(new Set(first).size).toBe(first.length)
  const second = await claimAll(after(seconds(29))) // what nobody got at once, because all looked at the same rows
  expect(new Set([...first, ...second]).size).toBe(first.length + second.length)
  let taken = first.length + second.length
  while (taken < payments) {
    const more = await claimAll(after(seconds(29)))
    expect(more.length).toBeGreaterThan(0)
    taken += more.length
  }
  expect(taken).toBe(payments)
  expect(await claimAll(after(seconds(29.999)))).toEqual([]) // all leases hold
  expect((await claimAll(after(seconds(50)))).length).toBeGreaterThan(0) // and then they have run out
})

test('nodes that ask at once ask each attempt once', async () => {
  const references = await payAll(payments)
  const line = recordingAccount(() => pending)
  const nodes = pools.map(pool => simulatedNode(pool, () => after(hours(0.5)), line))
  while ((await Promise.all(nodes.map(node => pollDue(node, fail)))).some(count => count > 0));
  const asked = line.checked.map(order => order.tx_reference).filter(one => references.includes(one))
  expect(asked.toSorted()).toEqual(references.toSorted())
})

test('the database itself refuses a second unresolved attempt', async () => {
  const [reference] = await payAll(1)
  const second = sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state, created_at,
      updated_at)
    select merchant_id, 'another', tx_reference, 2, provider_account, payment_method, 'pending', created_at, updated_at
    from attempts where tx_reference = ${reference}`
  await expect(lives.db.rows(second)).rejects.toThrow('attempts_open')
})

test('a callback is for an attempt that there is, whatever else is written there', async () => {
  const strange = ['', 'x', '../..', "' or 1=1", 'A'.repeat(36), '0'.repeat(36), '0'.repeat(37)]
  expect(await Promise.all(strange.map(knock))).toEqual(strange.map(() => false))
})

test('nodes that end what is over give each payment one end', async () => {
  const over = await lives.addPayments(payments, noon)
  await Promise.all(
    pools.flatMap(pool => [expireDue(pool, after(hours(1))), expireDue(pool, after(hours(1)))]),
  )
  await expireDue(lives.db, after(hours(1)))
  for (const { payment, events } of await lives.read(over.map(({ tx_reference }) => tx_reference))) {
    expect(payment.status).toBe('failed')
    expect(events).toMatchObject([
      { sequence: 1, kind: 'status_changed', cause: 'clock', to_status: 'failed' },
    ])
  }
})
