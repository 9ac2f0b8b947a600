import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { initiate } from '../../../src/actions/interface/initiate.ts'
import { queueMessages } from '../../../src/actions/messages/queueMessages.ts'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import { expireDue } from '../../../src/actions/payments/expire.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { lockPayment } from '../../../src/store/payments/paymentLife.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, minutes, no, noon, pending, seconds, yes } from '../../support/payments/rows.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'
import { messagesOf } from '../../support/messages/sender.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

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

const told = async (payment: Parameters<typeof messagesOf>[1]) =>
  (await messagesOf(db, payment)).map(({ topic, medium, recipient }) => `${topic} ${medium} ${recipient}`)

describe('who is told', () => {
  for (const [who, fields, says, expected] of [
    ['nobody who left no address', {}, yes, []],
    ['nobody while it is under way', reachable, pending, []],
    ['by SMS alone', { number: '0241234567' }, yes, ['paid sms +233241234567']],
    ['by email alone', { email: 'ama@shop.example' }, yes, ['paid email ama@shop.example']],
    ['by both', reachable, yes, ['paid sms +233241234567', 'paid email ama@shop.example']],
    ['of a failure', reachable, no, ['failed sms +233241234567', 'failed email ama@shop.example']],
  ] as const)
    test(who, async () => {
      const payment = await shop.ask(merchant, fields)
      await shop.try(payment, says)
      expect(await told(payment)).toEqual(expected)
    })

  test('nobody who never tried: not of the end of the time', async () => {
    const payment = await shop.ask(merchant, reachable)
    shop.setNow(after(minutes(61), payment.created_at))
    await expireDue(db, after(minutes(61), payment.created_at))
    expect((await shop.fresh(payment)).status).toBe('failed')
    expect(await told(payment)).toEqual([])
    shop.setNow(new Date())
  })

  test('nobody who never tried: not of the own cancelling', async () => {
    const payment = await shop.ask(merchant, reachable)
    await cancel(shop.runtime, payment, new Date())
    expect(await told(payment)).toEqual([])
  })

  test('whoever cancels after a try', async () => {
    const payment = await shop.ask(merchant, { email: 'ama@shop.example' })
    await shop.try(payment, no)
    await cancel(shop.runtime, payment, new Date())
    expect((await told(payment)).toSorted()).toEqual([
      'cancelled email ama@shop.example',
      'failed email ama@shop.example',
    ])
  })
})

test('a change that is taken back leaves no message', async () => {
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
  expect(await told(payment)).toEqual([])
})

test('paid is told at once, failed a minute later', async () => {
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

test('the same status again is the same message, which waits anew', async () => {
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

describe('in which language', () => {
  for (const [who, langs, lang] of [
    ['who never said', [undefined], 'en'],
    ['who read the page in French', ['fr'], 'fr'],
    ['who changed to English for the second try', ['fr', 'en'], 'en'],
    ['who read the last page in French', ['en', 'fr'], 'fr'],
  ] as const)
    test(who, async () => {
      const payment = await shop.ask(merchant, reachable)
      for (const [at, spoken] of langs.entries())
        await shop.try(payment, at === langs.length - 1 ? yes : no, { lang: spoken })
      const paid = (await messagesOf(db, payment)).filter(({ topic }) => topic === 'paid')
      expect(paid.map(message => message.lang)).toEqual([lang, lang])
    })

  test('a choice by hand still leads the way back', async () => {
    const payment = await shop.ask(merchant, reachable)
    await shop.try(payment, pending, { lang: 'fr', askedLang: 'fr' })
    const [attempt] = await db.rows<{ lang: string; given: object }>(
      sql`select lang, given from attempts where tx_reference = ${payment.tx_reference}`,
    )
    expect(attempt).toEqual({ lang: 'fr', given: { phone: '+233241234567', lang: 'fr' } })
  })
})

test('a request that pays without a page speaks English', async () => {
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

test('the commit of a change has one statement more where there is somebody to tell, and none where not', async () => {
  expect(await statementsFor({})).toBe(0)
  expect(await statementsFor(reachable)).toBe(1)
})
