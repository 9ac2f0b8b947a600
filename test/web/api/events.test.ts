import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { notificationId } from '../../../src/core/notification/notification.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { send, sign } from '../../support/merchant/merchant.ts'
import {
  askFeed,
  type FeedQuestion,
  feedQuestion,
  feedSignature,
  followFeed,
  storeNotification,
} from '../../support/deliveries/notifications.ts'

let gateway: TestGateway
let shop: TestMerchant
let other: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
  other = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const seconds = (count: number) => Date.now() + count * 1000
const follow = (keys: TestMerchant['test'], after?: string, limit?: number) =>
  followFeed(gateway.url, keys, after, limit)

type Asked = { question: FeedQuestion; signature?: string }
const without = ({ question, signature }: Asked, name: string): Asked => ({
  question: Object.fromEntries(Object.entries(question).filter(([key]) => key !== name)),
  signature,
})
const changed = ({ question, signature }: Asked, fields: FeedQuestion): Asked => ({
  question: { ...question, ...fields },
  signature,
})
const header = 'x-tollgate-signature'
const unproved = [401, 'GW-010', header] as const

for (const [name, change, http, code, field] of [
  ['no merchant_key', asked => without(asked, 'merchant_key'), 400, 'GW-001', 'merchant_key'],
  [
    'an unknown merchant_key',
    asked => changed(asked, { merchant_key: 'tk_nobody' }),
    401,
    'GW-008',
    'merchant_key',
  ],
  [
    'an impossible merchant_key',
    asked => changed(asked, { merchant_key: 'a\0b' }),
    401,
    'GW-008',
    'merchant_key',
  ],
  ['no signature', ({ question }) => ({ question }), ...unproved],
  ['an empty signature', ({ question }) => ({ question, signature: '' }), ...unproved],
  ['a signature of zeros', sealed(() => `t=${now()},v1=${'0'.repeat(64)}`), ...unproved],
  ['a signature without a time', sealed(right => right.replace(/^t=\d+,/, '')), ...unproved],
  ['a signature with two times', sealed(right => `t=1,${right}`), ...unproved],
  ['a signature with two values', sealed(right => `${right},v1=${'0'.repeat(64)}`), ...unproved],
  ['a signature of words', sealed(() => 'trust me'), ...unproved],
  ['a time that was not signed', sealed(right => right.replace(/^t=\d+/, `t=${now() - 1}`)), ...unproved],
  ['a time of words', sealed(right => right.replace(/^t=\d+/, 't=now')), ...unproved],
  ['301 seconds ago', ({ question }) => signed(question, shop.test, seconds(-301)), ...unproved],
  ['in 302 seconds', ({ question }) => signed(question, shop.test, seconds(302)), ...unproved],
  ['a year ago', ({ question }) => signed(question, shop.test, seconds(-365 * 86_400)), ...unproved],
  ["another merchant's secret", ({ question }) => signed(question, other.test), ...unproved],
  ["the other mode's secret", ({ question }) => signed(question, shop.live), ...unproved],
  ["another merchant's key", asked => changed(asked, { merchant_key: other.test.merchant_key }), ...unproved],
  ["the other mode's key", asked => changed(asked, { merchant_key: shop.live.merchant_key }), ...unproved],
  ['the signature of another cursor', asked => changed(asked, { after: '1' }), ...unproved],
  ['the signature of no cursor', asked => changed(asked, { after: '' }), ...unproved],
  ['the signature of a cursor, sent without it', asked => without(asked, 'after'), ...unproved],
  ['the signature of another limit', asked => changed(asked, { limit: '500' }), ...unproved],
  ['a hash in the address', ({ question }) => ({ question: hashed(question) }), ...unproved],
  ['a cursor with a sign', () => askedFor('-1'), 400, 'GW-012', 'after'],
  ['a cursor with a zero in front', () => askedFor('01'), 400, 'GW-012', 'after'],
  ['a cursor of words', () => askedFor("1' or 1=1"), 400, 'GW-012', 'after'],
  ['a cursor that no number holds', () => askedFor('9'.repeat(30)), 400, 'GW-012', 'after'],
  ['a cursor that we never gave', () => askedFor('999999'), 400, 'GW-012', 'after'],
  ['a limit of 0', () => askedFor('0', '0'), 400, 'GW-012', 'limit'],
  ['a limit of 501', () => askedFor('0', '501'), 400, 'GW-012', 'limit'],
  ['a limit of words', () => askedFor('0', 'all'), 400, 'GW-012', 'limit'],
] as [string, (asked: Asked) => Asked, number, string, string][])
  test(`refused: ${name}`, async () => {
    const { question, signature } = change(askedFor('0'))
    const answer = await askFeed(gateway.url, question, signature)
    expect([answer.http, answer.body.error.code, answer.body.error.field]).toEqual([http, code, field])
    expect(answer.body).toMatchObject({
      success: false,
      status: 'error',
      status_code: http,
      request_id: answer.headers.get('x-request-id'),
    })
  })

const now = () => Math.floor(Date.now() / 1000)

function signed(question: FeedQuestion, keys: TestMerchant['test'], at = Date.now()): Asked {
  return { question, signature: feedSignature(keys, question, at) }
}

function askedFor(after: string, limit?: string): Asked {
  const question = { ...feedQuestion(shop.test, after), ...(limit !== undefined && { limit }) }
  return signed(question, shop.test)
}

function sealed(change: (right: string) => string) {
  return ({ question, signature = '' }: Asked): Asked => ({ question, signature: change(signature) })
}

function hashed(question: FeedQuestion): FeedQuestion {
  const text = `after=${question.after}&merchant_key=${question.merchant_key}`
  return { ...question, secure_hash: sign(shop.test.secret_key, text) }
}

test('an address that was copied, from a log or a browser, is worth nothing', async () => {
  const question = hashed(feedQuestion(shop.test, ''))
  const copied = await askFeed(gateway.url, question)
  expect([copied.http, copied.body.error.code]).toEqual([401, 'GW-010'])
  expect(copied.body.error.hint).toMatchObject({
    likely_mistake: expect.stringContaining('secure_hash in the address'),
  })
})

test("a time up to 300 seconds before or after the gateway's clock is accepted", async () => {
  const question = feedQuestion(shop.test)
  for (const at of [-298, -60, 60, 298])
    expect((await askFeed(gateway.url, question, feedSignature(shop.test, question, seconds(at)))).http).toBe(
      200,
    )
})

test('spaces after the comma, capitals and unknown names change nothing', async () => {
  const question = feedQuestion(shop.test)
  const [t = '', v1 = ''] = feedSignature(shop.test, question).split(',')
  const odd = `${t}, v1=${v1.slice(3).toUpperCase()} ,v2=later`
  expect((await askFeed(gateway.url, question, odd)).http).toBe(200)
})

test('a parameter twice is refused', async () => {
  const { body } = await send(`${gateway.url}/v1/events?after=1&after=2`)
  expect(body.error).toMatchObject({ code: 'GW-012', field: 'after' })
})

test('only GET is taken', async () => {
  const answer = await send(`${gateway.url}/v1/events`, { method: 'POST' })
  expect([answer.http, answer.headers.get('allow')]).toEqual([405, 'GET'])
})

test('in test mode a wrong signature is answered with the text that we signed, in live mode it is not', async () => {
  const { merchant_key, secret_key } = shop.test
  const question = feedQuestion(shop.test, '5', 7)
  const right = feedSignature(shop.test, question)
  const [t = ''] = /(?<=t=)\d+/.exec(right) ?? []
  const text = `${t}.${merchant_key}.5.7`
  const base64 = createHmac('sha256', secret_key).update(text).digest('base64')
  const late = now() - 900
  for (const [sent, hashed_string, mistake] of [
    [`t=${t},v1=${'0'.repeat(64)}`, text, expect.stringMatching(/^it was made with another secret_key/)],
    [`t=${t},v1=${base64}`, text, 'the hash is right but base64; send it as hexadecimal'],
    [
      `t=${t},v1=abc`,
      text,
      expect.stringMatching(/^v1 has 3 characters; HMAC-SHA-256 in hexadecimal has 64; and it was made/),
    ],
    [`t=${t}`, text, 'write it as t=<unix seconds>,v1=<hexadecimal>'],
    [
      feedSignature(shop.test, question, late * 1000),
      `${late}.${merchant_key}.5.7`,
      expect.stringMatching(/^t is 90\d seconds before our clock; at most 300 are allowed$/),
    ],
    [
      feedSignature(shop.test, question, Number(t) * 1_000_000),
      `${t}000.${merchant_key}.5.7`,
      't is in milliseconds; send seconds',
    ],
  ]) {
    const answer = await askFeed(gateway.url, question, sent)
    expect(answer.body.error.hint).toMatchObject({ hashed_string, likely_mistake: mistake })
  }
  const unsigned = await askFeed(gateway.url, question)
  expect(unsigned.body.error.hint).toEqual({
    hashed_string: expect.stringMatching(new RegExp(`^\\d{10}\\.${merchant_key}\\.5\\.7$`)),
    likely_mistake: `${header} was not sent`,
  })
  const live = await askFeed(gateway.url, { merchant_key: shop.live.merchant_key })
  expect([live.http, live.body.error.hint]).toEqual([401, undefined])
  expect(live.text).not.toContain(shop.live.merchant_key)
})

test('a wrong clock is reported in live mode too, to a client that has the secret', async () => {
  const question = feedQuestion(shop.live)
  const answer = await askFeed(gateway.url, question, feedSignature(shop.live, question, seconds(-900)))
  expect(answer.body.error.message).toContain('is more than 300 seconds away from ours')
  const forged = await askFeed(gateway.url, question, `t=${now() - 900},v1=${'0'.repeat(64)}`)
  expect(forged.body.error.message).toContain('does not match')
})

test('an event has the very bytes of its notification', async () => {
  const { merchant_id } = shop
  const body = '{"status_reason":"\u00e9 \u2028 \\" \\u0001 \u{1f600}","amount":10.50}'
  const first = await storeNotification(gateway.db, { merchant_id, status: 'failed', body })
  const second = await storeNotification(gateway.db, { merchant_id, tx_reference: first.tx_reference })
  await storeNotification(gateway.db, { merchant_id, mode: 'live' })
  await storeNotification(gateway.db, { merchant_id: other.merchant_id })
  const answer = await follow(shop.test)
  expect(answer.http).toBe(200)
  expect(answer.body).toEqual({
    success: true,
    status: 'ok',
    events: [first, second].map((told, at) => ({
      cursor: String(at + 1),
      id: notificationId(told),
      sequence: at + 1,
      type: 'status',
      status: told.status,
      created_at: told.created_at.toISOString(),
      body: told.body,
    })),
    next: '2',
    more: false,
  })
  expect(await follow(shop.test, '', 1)).toMatchObject({ body: { next: '1', more: true } })
  expect(await follow(shop.test, '1')).toMatchObject({ body: { next: '2', more: false } })
  expect(await follow(shop.test, '2')).toMatchObject({ body: { events: [], next: '2' } })
  expect((await follow(shop.live)).body.events).toHaveLength(1)
})

test('a hash in the other reading of the secret, in capitals, is taken', async () => {
  const asBytes = Buffer.from(shop.test.secret_key, 'hex') as unknown as string
  const { merchant_key } = shop.test
  const signature = feedSignature({ merchant_key, secret_key: asBytes }, { merchant_key })
  const loud = signature.replace(/(?<=v1=).*/, hex => hex.toUpperCase())
  expect((await askFeed(gateway.url, { merchant_key }, loud)).http).toBe(200)
})

test('a deactivated merchant is still answered', async () => {
  const closed = await gateway.addMerchant()
  await gateway.deactivate(closed.merchant_id)
  expect((await follow(closed.test)).http).toBe(200)
})

test('a merchant with unsigned_requests must sign here too', async () => {
  const open = await gateway.addMerchant('unsigned_requests=on')
  expect((await askFeed(gateway.url, { merchant_key: open.test.merchant_key })).http).toBe(401)
})

test('errors_as_200: a refusal is answered with 200', async () => {
  const old = await gateway.addMerchant('errors_as_200=on')
  const answer = await askFeed(gateway.url, { merchant_key: old.test.merchant_key })
  expect([answer.http, answer.body.status_code, answer.body.error.code]).toEqual([200, 401, 'GW-010'])
})

test("the merchant's own rate holds here too", async () => {
  const slow = await gateway.addMerchant('rate_limit=1', 'rate_burst=1')
  expect((await follow(slow.test)).http).toBe(200)
  const answer = await follow(slow.test)
  expect([answer.http, answer.headers.get('retry-after')]).toEqual([429, '1'])
})

test('guessing is slow, and honest questions from the same address are not', async () => {
  const guess = () => askFeed(gateway.url, feedQuestion(shop.test), `t=${now()},v1=${'1'.repeat(64)}`)
  const started = performance.now()
  const answers = await Promise.all(Array.from({ length: 150 }, guess))
  const gained = ((performance.now() - started) / 1000) * 20 // a slow machine gives tokens back meanwhile
  const passed = answers.filter(({ http }) => http !== 429)
  expect(new Set(passed.map(({ http }) => http))).toEqual(new Set([401]))
  expect(passed.length).toBeLessThanOrEqual(100 + gained)
  expect((await follow(shop.test)).http).toBe(200)
})
