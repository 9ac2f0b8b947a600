import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { initiate } from '../../../src/actions/interface/initiate.ts'
import { queueMessages } from '../../../src/actions/messages/queueMessages.ts'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { lockPayment } from '../../../src/store/payments/paymentLife.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, minutes, no, noon, pending, seconds, yes } from '../../support/payments/rows.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'
import { messagesOf } from '../../support/messages/sender.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { expireDue } from '../../support/payments/expireDue.ts'

const reachable = { number: '0241234567', email: 'ama@shop.example' }

let shop: TestShop
let db: Db
let merchant: TestMerchant

beforeAll(async () => {
  shop = await openShop()
  db = shop.db
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())

const references = async (payment: Parameters<typeof messagesOf>[1]) =>
  (await messagesOf(db, payment)).map(({ topic, medium, recipient }) => `${topic} ${medium} ${recipient}`)

describe('recipients', () => {
  for (const [who, fields, reply, expected] of [
    ['none without an address', {}, yes, []],
    ['none while an attempt is open', reachable, pending, []],
    ['SMS only', { number: '0241234567' }, yes, ['paid sms +233241234567']],
    ['by email alone', { email: 'ama@shop.example' }, yes, ['paid email ama@shop.example']],
    ['by both', reachable, yes, ['paid sms +233241234567', 'paid email ama@shop.example']],
    ['of a failure', reachable, no, ['failed sms +233241234567', 'failed email ama@shop.example']],
  ] as const)
    test(who, async () => {
      const payment = await shop.ask(merchant, fields)
      await shop.try(payment, reply)
      expect(await references(payment)).toEqual(expected)
    })

  test('no message without an attempt, when the payment expires', async () => {
    const payment = await shop.ask(merchant, reachable)
    shop.setNow(after(minutes(61), payment.created_at))
    await expireDue(db, after(minutes(61), payment.created_at))
    expect((await shop.fresh(payment)).status).toBe('failed')
    expect(await references(payment)).toEqual([])
    shop.setNow(new Date())
  })

  test('no message without an attempt, when the customer cancels', async () => {
    const payment = await shop.ask(merchant, reachable)
    await cancel(shop.runtime, payment, new Date())
    expect(await references(payment)).toEqual([])
  })

  test('a customer who cancels after an attempt', async () => {
    const payment = await shop.ask(merchant, { email: 'ama@shop.example' })
    await shop.try(payment, no)
    await cancel(shop.runtime, payment, new Date())
    expect((await references(payment)).toSorted()).toEqual([
      'cancelled email ama@shop.example',
      'failed email ama@shop.example',
    ])
  })
})

test('a change that is rolled back adds no message', async () => {
  const payment = await shop.ask(merchant, reachable)
  await shop.try(payment, pending)
  const undone = db.transaction(async tx => {
    const locked = await lockPayment(tx, payment)
    await queueMessages(tx, { ...payment, ...locked, status: 'paid' }, new Date())
    expect(
      await tx.rows(sql`select from messages where tx_reference = ${payment.tx_reference}`),
    ).toHaveLength(2)
    throw new Error('the power went')
  })
  await expect(undone).rejects.toThrow('the power went')
  expect(await references(payment)).toEqual([])
})

test('paid is sent at once, failed a minute later', async () => {
  const paid = await shop.ask(merchant, reachable)
  await shop.try(paid, yes)
  const failed = await shop.ask(merchant, reachable)
  await shop.try(failed, no)
  for (const [payment, waitMs] of [
    [paid, 0],
    [failed, seconds(60)],
  ] as const)
    for (const { created_at, next_try_at, message_id, topic, medium, state } of await messagesOf(
      db,
      payment,
    )) {
      expect(next_try_at).toEqual(after(waitMs, created_at))
      expect(message_id).toBe(`${payment.tx_reference}-${topic}-${medium}`)
      expect(state).toBe('queued')
    }
})

test('the same status again is the same message, and its wait starts again', async () => {
  shop.setNow(noon)
  const payment = await shop.ask(merchant, { number: '0241234567' })
  await shop.try(payment, no)
  shop.setNow(after(seconds(40)))
  await shop.try(payment, no, { lang: 'fr' })
  const [message, ...more] = await messagesOf(db, payment)
  expect(more).toEqual([])
  expect(message).toMatchObject({ state: 'queued', tries: 0, lang: 'fr', next_try_at: after(seconds(100)) })
  shop.setNow(new Date())
})

describe('the language', () => {
  for (const [who, langs, lang] of [
    ['no language', [undefined], 'en'],
    ['the page was in French', ['fr'], 'fr'],
    ['changed to English for the second attempt', ['fr', 'en'], 'en'],
    ['the last page was in French', ['en', 'fr'], 'fr'],
  ] as const)
    test(who, async () => {
      const payment = await shop.ask(merchant, reachable)
      for (const [at, spoken] of langs.entries())
        await shop.try(payment, at === langs.length - 1 ? yes : no, { lang: spoken })
      const paid = (await messagesOf(db, payment)).filter(({ topic }) => topic === 'paid')
      expect(paid.map(message => message.lang)).toEqual([lang, lang])
    })

  test('a chosen language is in the link back', async () => {
    const payment = await shop.ask(merchant, reachable)
    await shop.try(payment, pending, { lang: 'fr', askedLang: 'fr' })
    const [attempt] = await db.rows<{ lang: string; given: object }>(
      sql`select lang, given from attempts where tx_reference = ${payment.tx_reference}`,
    )
    expect(attempt).toEqual({ lang: 'fr', given: { phone: '+233241234567', lang: 'fr' } })
  })
})

test('a payment without a page has messages in English', async () => {
  const request = signedRequest(merchant.live, {
    ...reachable,
    generate_checkout_url: undefined,
    pymt_instrument: '0241234567',
    extra_wallet_issuer_hint: 'mtn',
  })
  const { stored } = await initiate(shop.runtime, request, 'api', '127.0.0.1')
  const payment = await shop.fresh(stored as Parameters<typeof shop.fresh>[0])
  await shop.hear(payment, yes)
  expect((await messagesOf(db, payment)).map(({ topic, lang }) => `${topic} ${lang}`)).toEqual([
    'paid en',
    'paid en',
  ])
})

async function statementsFor(fields: Record<string, unknown>) {
  const payment = await shop.ask(merchant, fields)
  await shop.try(payment, pending)
  let statements = 0
  await db.transaction(tx =>
    queueMessages(
      { ...tx, rows: query => (statements++, tx.rows(query)) },
      { ...payment, status: 'paid' },
      new Date(),
    ),
  )
  return statements
}

test('the commit of a change has one more statement if there is a recipient, and none otherwise', async () => {
  expect(await statementsFor({})).toBe(0)
  expect(await statementsFor(reachable)).toBe(1)
})
