import { afterAll, beforeAll, expect, test } from 'vitest'
import { initiate } from '../../../src/actions/interface/initiate.ts'
import { reopen } from '../../../src/actions/interface/reopen.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import { explainPayment } from '../../../src/actions/payments/explainPayment.ts'
import { openCheckout } from '../../../src/actions/payments/openCheckout.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { databaseDeadline } from '../../../src/runtime/deadline.ts'
import { sql } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, no, pending, seconds, yes } from '../../support/payments/rows.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'
import { messagesOf } from '../../support/messages/sender.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { expireDue } from '../../support/payments/expireDue.ts'

let shop: TestShop
let merchant: TestMerchant
let now = new Date()
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant('Ama Shop', 'ipn_url=https://shop.example/ipn')
})
afterAll(() => shop.stop())

const wait = (ms: number) => {
  now = after(ms, now)
  shop.setNow(now)
}

const person = { email: 'ama@home.example', description: 'Two hats' }

async function order(fields: Record<string, unknown> = {}, whose = merchant) {
  const request = signedRequest(whose.live, { ...person, ...fields })
  const ask = async () => {
    const { stored } = await initiate(shop.runtime, request, 'api', '127.0.0.1')
    return stored
  }
  const { merchant_id, tx_reference } = await ask()
  const payment = await shop.fresh({ merchant_id, tx_reference } as Payment)
  return { payment, ask, look: () => shop.fresh(payment) }
}

const told = ({ merchant_id, tx_reference }: Payment) =>
  shop.db.rows<{ status: string }>(sql`
    select status from notifications where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by sequence`)
const statusesTold = async (payment: Payment) => (await told(payment)).map(({ status }) => status)
const stageOf = async ({ tx_token }: Payment) => (await openCheckout(shop.runtime, tx_token))?.stage

test('cancelled, requested again, paid: the shop is notified of each, and the page shows the payment methods', async () => {
  const { payment, ask, look } = await order()
  await cancel(shop.runtime, payment, now)
  expect(await stageOf(payment)).toBe('cancelled')
  wait(minutes(50))
  expect((await ask()).tx_token).toBe(payment.tx_token)
  expect(await look()).toMatchObject({
    status: 'awaiting_payment',
    status_reason: '',
    expires_at: after(hours(1), now),
  })
  expect(await stageOf(payment)).toBe('choose')
  wait(minutes(50)) // its first hour is over
  await expireDue(shop.db, now)
  expect((await shop.try(await look(), yes)).status).toBe('paid')
  expect(await statusesTold(payment)).toEqual(['cancelled', 'awaiting_payment', 'paid'])
  const { moments } = await explainPayment(shop.db, await look(), now)
  expect(moments.map(({ who, words }) => `${who}: ${words}`)).toContain(
    'shop: Sent the same request again: the payment, which was cancelled, is open',
  )
})

test('expired, requested again, expired again', async () => {
  const { payment, ask, look } = await order()
  for (let round = 0; round < 2; round++) {
    wait(hours(1))
    await expireDue(shop.db, now)
    expect(await look()).toMatchObject({
      status: 'failed',
      status_reason: expect.stringContaining('expired'),
    })
    if (round === 0) await ask()
  }
  expect(await statusesTold(payment)).toEqual(['failed', 'awaiting_payment', 'failed'])
})

test('the customer hears of each status once, however often it comes', async () => {
  const { payment, ask } = await order()
  await shop.try(payment, no)
  for (let round = 0; round < 3; round++) {
    await cancel(shop.runtime, payment, now)
    wait(seconds(30))
    await ask()
  }
  expect(await statusesTold(payment)).toHaveLength(1 + 3 * 2)
  expect((await messagesOf(shop.db, payment)).map(({ topic }) => topic).toSorted()).toEqual([
    'cancelled',
    'failed',
  ])
})

test('a payment that is overdue but not yet expired is only extended', async () => {
  const { payment, ask, look } = await order()
  wait(hours(1))
  expect(await stageOf(payment)).toBe('expired')
  await ask()
  expect(await look()).toMatchObject({ status: 'awaiting_payment', expires_at: after(hours(1), now) })
  expect(await stageOf(payment)).toBe('choose')
  await expireDue(shop.db, now)
  expect((await look()).status).toBe('awaiting_payment')
  expect(await statusesTold(payment)).toEqual([])
})

test('twenty repeats at once open it once', async () => {
  const { payment, ask, look } = await order()
  await cancel(shop.runtime, payment, now)
  wait(seconds(1))
  await Promise.all(Array.from({ length: 20 }, ask))
  expect((await look()).status).toBe('awaiting_payment')
  expect(await statusesTold(payment)).toEqual(['cancelled', 'awaiting_payment'])
})

test('a repeat that meets a late yes never undoes it', async () => {
  for (let turn = 0; turn < 5; turn++) {
    const { payment, ask, look } = await order()
    await shop.try(payment, no)
    await cancel(shop.runtime, payment, now)
    await Promise.all([ask(), shop.hear(payment, yes), ask()])
    await ask()
    expect((await look()).status).toBe('paid')
    const path = await statusesTold(payment)
    expect(path.filter(status => status === 'paid')).toHaveLength(1)
    expect(path.at(-1)).toBe('paid')
  }
})

test('while an attempt is unresolved, the cancel request stays', async () => {
  const { payment, ask, look } = await order()
  await shop.try(payment, pending)
  await cancel(shop.runtime, payment, now)
  wait(hours(2))
  await ask()
  const wished = await look()
  expect(wished.cancel_requested_at).not.toBeNull()
  expect(wished.expires_at).toEqual(payment.expires_at)
  await shop.hear(payment, no)
  expect((await look()).status).toBe('cancelled')
  await ask()
  expect(await look()).toMatchObject({ status: 'awaiting_payment', cancel_requested_at: null })
})

test('a payment that is open needs no statement', async () => {
  const { ask } = await order()
  const db = { ...shop.db, withQuota: () => expect.fail('a statement was sent') }
  const stored = await ask()
  await reopen({ ...shop.runtime, db }, stored, databaseDeadline())
})

for (const [why, change] of [
  ['it is switched off', ['reopen_unpaid=off']],
  ['its settings would refuse the request by now', ['max_total=20']],
] as const)
  test(`${why}: the answer is the same, and the payment does not change`, async () => {
    const own = await shop.addMerchant('Efua Shop')
    const { payment, ask, look } = await order({}, own)
    await cancel(shop.runtime, payment, now)
    await setMerchant(shop.db, own.merchant_id, [...change])
    await shop.runtime.callers.findFresh(own.live.merchant_key)
    expect((await ask()).tx_token).toBe(payment.tx_token)
    expect((await look()).status).toBe('cancelled')
  })

test("nothing is reopened while the merchant's setting is unreadable", async () => {
  const own = await shop.addMerchant('Efua Shop')
  const { payment, ask, look } = await order({}, own)
  await cancel(shop.runtime, payment, now)
  await shop.db.rows(sql`
    update merchants set settings = '{"reopen_unpaid": "perhaps"}' where merchant_id = ${own.merchant_id}`)
  await ask()
  expect((await look()).status).toBe('cancelled')
})

test('a deactivated merchant opens nothing', async () => {
  const own = await shop.addMerchant('Efua Shop')
  const { payment, ask, look } = await order({}, own)
  await cancel(shop.runtime, payment, now)
  await shop.db.rows(sql`update merchants set active = false where merchant_id = ${own.merchant_id}`)
  await shop.runtime.callers.findFresh(own.live.merchant_key)
  await expect(ask()).rejects.toThrow('deactivated')
  await reopen(shop.runtime, { ...payment, status: 'cancelled' }, databaseDeadline())
  expect((await look()).status).toBe('cancelled')
})

test('a direct request is not reopened: no wallet would be charged', async () => {
  const wallet = { pymt_instrument: '0241234567', extra_wallet_issuer_hint: 'mtn' }
  const { payment, ask, look } = await order({ ...wallet, generate_checkout_url: undefined })
  await shop.hear(payment, no)
  await cancel(shop.runtime, payment, now)
  await ask()
  expect((await look()).status).toBe('cancelled')
})

test('other details are refused as ever', async () => {
  const { payment, look } = await order({ invoice_id: 'SAME-1' })
  await cancel(shop.runtime, payment, now)
  const other = signedRequest(merchant.live, { ...person, invoice_id: 'SAME-1', description: 'Three hats' })
  await expect(initiate(shop.runtime, other, 'api', '127.0.0.1')).rejects.toThrow('other details')
  expect((await look()).status).toBe('cancelled')
})
