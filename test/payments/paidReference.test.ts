import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollAttempt } from '../../src/actions/payments/callProvider.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import type { Order } from '../../src/core/provider/order.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { attemptsOf, holdReferences } from '../../src/store/payments/attempts.ts'
import { findPayment } from '../../src/store/payments/paymentLife.ts'
import { tasksOf } from '../../src/store/payments/tasks.ts'
import { query } from '../support/database/database.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { after, no, noon, pending, seconds } from '../support/payments/rows.ts'
import { aPayRequest, simulatedAccount, simulatedNode } from '../support/payments/simulatedNode.ts'

// Whether a yes is for this order, and whether its money has not paid another one already.
let lives: PaymentDatabase
let other: Db // of another node
beforeAll(async () => {
  lives = await openPaymentDatabase()
  other = openDb(lives.url, 2)
})
afterAll(async () => {
  await other.end()
  await lives.close()
})

let people = 0
let now = noon
type Say = (order: Order) => Reply
const node = (say: Say, terms: Partial<ProviderAccount> = {}, db = lives.db) =>
  simulatedNode(db, () => now, {
    start: async () => pending,
    check: async order => say(order),
    ...terms,
  })
const paid = (order: string, provider_ref?: string): Reply => ({
  state: 'paid',
  order,
  amount: 2500n,
  currency: 'GHS',
  ...(provider_ref && { provider_ref }),
})

async function started() {
  const [payment] = (await lives.addPayments(1, now)) as [Payment]
  await tryAgain(payment, 1)
  return payment
}
const tryAgain = (payment: Payment, number: number) =>
  pay(
    node(() => pending),
    payment,
    aPayRequest({ number, address: `192.0.2.${++people}`, input: { phone: `024${1_000_000 + people}` } }),
  )

async function hear(payment: Payment, say: Say, { number = 1, ...more }: Hearing = {}) {
  const attempts = await attemptsOf(lives.db, payment.merchant_id, payment.tx_reference)
  await pollAttempt(node(say, more.terms, more.db), attempts[number - 1] as Attempt)
  return look(payment)
}
type Hearing = { number?: number; terms?: Partial<ProviderAccount>; db?: Db }

async function look(payment: Payment) {
  const tasks = await tasksOf(lives.db, payment.merchant_id, payment.tx_reference)
  const attempts = await attemptsOf(lives.db, payment.merchant_id, payment.tx_reference)
  return {
    status: (await findPayment(lives.db, payment))?.status,
    states: attempts.map(({ state }) => state),
    kinds: tasks.map(({ kind }) => kind),
    notes: tasks.map(({ note }) => note).join(),
  }
}
const itsOwn =
  (reference?: string): Say =>
  ({ attempt_id }) =>
    paid(attempt_id, reference)

test('a paid reply that names another order never pays: a task is raised, and polling continues', async () => {
  const payment = await started()
  const told = await hear(payment, () => paid('somebodyelses', 'X-1'))
  expect(told).toMatchObject({ status: 'awaiting_payment', states: ['pending'], kinds: ['other_order'] })
  expect(told.notes).toContain('somebodyelses')
  expect(await hear(payment, () => paid('somebodyelses', 'X-1'))).toEqual(told)
  expect(await hear(payment, itsOwn('X-2'))).toMatchObject({ status: 'paid', kinds: ['other_order'] })
})

for (const [what, order] of [
  ['no order', undefined],
  ['an empty one', ''],
  ['what is no name', {}],
  ['its own in other letters', 'UPPER'],
] as const)
  test(`a yes that names ${what} is never paid`, async () => {
    const payment = await started()
    const told = await hear(payment, ({ attempt_id }) =>
      paid((order === 'UPPER' ? attempt_id.toUpperCase() : order) as never, `X-${what}`),
    )
    expect(told).toMatchObject({ status: 'awaiting_payment', kinds: ['other_order'] })
  })

test('a provider that calls orders by names of its own is compared by these', async () => {
  const terms = { providerOrderId: ({ attempt_id }: Order) => `TG-${attempt_id.slice(-8)}` }
  const wrong = await hear(await started(), itsOwn('N-1'), { terms })
  expect(wrong).toMatchObject({ status: 'awaiting_payment', kinds: ['other_order'] })
  const right = await hear(await started(), order => paid(terms.providerOrderId(order), 'N-2'), { terms })
  expect(right).toMatchObject({ status: 'paid', kinds: [] })
})

test('one reference pays one payment: the second is for a person, and says whom it has paid', async () => {
  const [first, second] = [await started(), await started()]
  expect(await hear(first, itsOwn('R-1'))).toMatchObject({ status: 'paid', kinds: [] })
  const told = await hear(second, itsOwn('R-1'))
  expect(told).toMatchObject({
    status: 'awaiting_payment',
    states: ['disputed'],
    kinds: ['reference_taken'],
  })
  expect(told.notes).toContain(first.tx_reference)
  expect(await hear(second, itsOwn('R-1'))).toEqual(told)
  expect(await look(first)).toMatchObject({ status: 'paid', kinds: [] })
  expect(await hear(second, itsOwn('R-2'))).toMatchObject({ status: 'paid' }) // it was a mistake of the provider's
})

test('the same yes again is no clash', async () => {
  const payment = await started()
  for (let times = 0; times < 3; times++)
    expect(await hear(payment, itsOwn('S-1'))).toMatchObject({ status: 'paid', kinds: [] })
})

test('an attempt that holds its reference already may become paid by it', async () => {
  const payment = await started()
  const [{ attempt_id }] = (await attemptsOf(lives.db, payment.merchant_id, payment.tx_reference)) as [
    Attempt,
  ]
  await hold('S-2', payment.merchant_id, attempt_id)
  expect(await hear(payment, itsOwn('S-2'))).toMatchObject({ status: 'paid', states: ['paid'], kinds: [] })
  const another = await started()
  await hold('S-3', payment.merchant_id, attempt_id)
  expect(await hear(another, itsOwn('S-3'))).toMatchObject({
    states: ['disputed'],
    kinds: ['reference_taken'],
  })
})

const hold = (reference: string, merchant_id: string, attempt_id: string) =>
  lives.db.rows(holdReferences([{ account: simulatedAccount.account, reference, merchant_id, attempt_id }]))

test('two accounts may use the same reference, two providers of one account may not', async () => {
  const [first, second, third] = [await started(), await started(), await started()]
  expect(await hear(first, itsOwn('A-1'))).toMatchObject({ status: 'paid' })
  const terms = { account: 'simulated, second account' }
  expect(await hear(second, itsOwn('A-1'), { terms })).toMatchObject({ status: 'paid', kinds: [] })
  expect(await hear(third, itsOwn('A-1'), { terms })).toMatchObject({ kinds: ['reference_taken'] })
})

test('a yes without a reference goes by the order itself', async () => {
  for (const payment of [await started(), await started()])
    expect(await hear(payment, itsOwn())).toMatchObject({ status: 'paid', kinds: [] })
})

async function paidTwice(second: string) {
  const payment = await started()
  await hear(payment, () => no)
  now = after(seconds(30), now)
  await tryAgain(payment, 2)
  await hear(payment, itsOwn('O-1'))
  return hear(payment, itsOwn(second), { number: 2 })
}

test('a second success of one payment has a reference of its own: it is given back', async () => {
  expect(await paidTwice('O-2')).toMatchObject({ states: ['paid', 'paid'], kinds: ['refund'] })
})

test('the same money told for two attempts of one payment is no second success', async () => {
  await query(lives.url, `delete from paid_references where reference like 'O-%'`)
  expect(await paidTwice('O-1')).toMatchObject({ states: ['paid', 'disputed'], kinds: ['reference_taken'] })
})

test('two nodes get the same reference at the same time: one payment is paid, one has a task', async () => {
  for (let round = 0; round < 10; round++) {
    const payments = [await started(), await started()] as const
    const [one, two] = payments
    await Promise.all([hear(one, itsOwn(`T-${round}`)), hear(two, itsOwn(`T-${round}`), { db: other })])
    const told = [await look(one), await look(two)]
    expect(told.map(({ status }) => status)).toContain('paid')
    expect(told.map(({ status }) => status)).toContain('awaiting_payment')
    expect(told.flatMap(({ kinds }) => kinds)).toEqual(['reference_taken'])
  }
})
