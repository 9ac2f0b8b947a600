import { afterAll, beforeAll, expect, test } from 'vitest'
import { notificationId } from '../../src/core/notification.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway.ts'
import { send, sign } from '../support/merchant.ts'
import { feedQuestion, tellOf } from '../support/notifications.ts'

let gateway: TestGateway
let shop: TestMerchant
let other: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
  other = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const ask = (question: Record<string, string>) =>
  send(`${gateway.url}/v1/events?${new URLSearchParams(question).toString()}`)

type Question = Record<string, string>
const without = (question: Question, name: string) =>
  Object.fromEntries(Object.entries(question).filter(([key]) => key !== name))

for (const [name, change, http, code, field] of [
  ['no merchant_key', q => without(q, 'merchant_key'), 400, 'GW-001', 'merchant_key'],
  ['an unknown merchant_key', q => ({ ...q, merchant_key: 'tk_nobody' }), 401, 'GW-008', 'merchant_key'],
  ['an impossible merchant_key', q => ({ ...q, merchant_key: 'a\0b' }), 401, 'GW-008', 'merchant_key'],
  ['no hash', q => without(q, 'secure_hash'), 401, 'GW-010', 'secure_hash'],
  ['an empty hash', q => ({ ...q, secure_hash: '' }), 401, 'GW-010', 'secure_hash'],
  ['a hash of zeros', q => ({ ...q, secure_hash: '0'.repeat(64) }), 401, 'GW-010', 'secure_hash'],
  [
    "another merchant's hash",
    q => ({ ...q, ...hashBy(other.test.secret_key, q) }),
    401,
    'GW-010',
    'secure_hash',
  ],
  [
    "the other mode's hash",
    q => ({ ...q, ...hashBy(shop.live.secret_key, q) }),
    401,
    'GW-010',
    'secure_hash',
  ],
  [
    "another merchant's key",
    q => ({ ...q, merchant_key: other.test.merchant_key }),
    401,
    'GW-010',
    'secure_hash',
  ],
  [
    "the other mode's key",
    q => ({ ...q, merchant_key: shop.live.merchant_key }),
    401,
    'GW-010',
    'secure_hash',
  ],
  ['the hash of another cursor', q => ({ ...q, after: '1' }), 401, 'GW-010', 'secure_hash'],
  ['the hash of no cursor', q => ({ ...q, after: '' }), 401, 'GW-010', 'secure_hash'],
  ['the hash of a cursor, sent without it', q => without(q, 'after'), 401, 'GW-010', 'secure_hash'],
  ['a cursor with a sign', () => feedQuestion(shop.test, '-1'), 400, 'GW-012', 'after'],
  ['a cursor with a zero in front', () => feedQuestion(shop.test, '01'), 400, 'GW-012', 'after'],
  ['a cursor of words', () => feedQuestion(shop.test, "1' or 1=1"), 400, 'GW-012', 'after'],
  ['a cursor that no number holds', () => feedQuestion(shop.test, '9'.repeat(30)), 400, 'GW-012', 'after'],
  ['a cursor that we never gave', () => feedQuestion(shop.test, '999999'), 400, 'GW-012', 'after'],
  ['a limit of 0', q => ({ ...q, limit: '0' }), 400, 'GW-012', 'limit'],
  ['a limit of 501', q => ({ ...q, limit: '501' }), 400, 'GW-012', 'limit'],
  ['a limit of words', q => ({ ...q, limit: 'all' }), 400, 'GW-012', 'limit'],
] as [string, (question: Question) => Question, number, string, string][])
  test(`refused: ${name}`, async () => {
    const answer = await ask(change(feedQuestion(shop.test, '0')))
    expect([answer.http, answer.body.error.code, answer.body.error.field]).toEqual([http, code, field])
    expect(answer.body).toMatchObject({
      success: false,
      status: 'error',
      status_code: http,
      request_id: answer.headers.get('x-request-id'),
    })
  })

const hashBy = (secret: string, { after = '', merchant_key = '' }: Question) => ({
  secure_hash: sign(secret, `after=${after}&merchant_key=${merchant_key}`),
})

test('a parameter twice is refused', async () => {
  const { body } = await send(`${gateway.url}/v1/events?after=1&after=2`)
  expect(body.error).toMatchObject({ code: 'GW-012', field: 'after' })
})

test('only GET is taken', async () => {
  const answer = await send(`${gateway.url}/v1/events`, { method: 'POST' })
  expect([answer.http, answer.headers.get('allow')]).toEqual([405, 'GET'])
})

test('in test mode a wrong hash is answered with the text that we hashed, in live mode it is not', async () => {
  const { merchant_key, secret_key } = shop.test
  const turned = sign(secret_key, `merchant_key=${merchant_key}&after=5`)
  for (const [sent, mistake] of [
    [undefined, 'secure_hash was not sent'],
    [turned, 'the names are not in alphabetical order: after, merchant_key'],
    ['0'.repeat(64), 'another secret_key, or other values than those in the string above'],
  ]) {
    const answer = await ask({ merchant_key, after: '5', ...(sent && { secure_hash: sent }) })
    expect(answer.body.error.hint).toEqual({
      hashed_string: `after=5&merchant_key=${merchant_key}`,
      likely_mistake: mistake,
    })
  }
  const live = await ask({ merchant_key: shop.live.merchant_key })
  expect([live.http, live.body.error.hint]).toEqual([401, undefined])
  expect(live.text).not.toContain('after=')
})

test('an event has the very bytes of its notification', async () => {
  const { merchant_id } = shop
  const body = '{"status_reason":"\u00e9 \u2028 \\" \\u0001 \u{1f600}","amount":10.50}'
  const first = await tellOf(gateway.db, { merchant_id, status: 'failed', body })
  const second = await tellOf(gateway.db, { merchant_id, tx_reference: first.tx_reference })
  await tellOf(gateway.db, { merchant_id, mode: 'live' })
  await tellOf(gateway.db, { merchant_id: other.merchant_id })
  const answer = await ask(feedQuestion(shop.test))
  expect(answer.http).toBe(200)
  expect(answer.body).toEqual({
    success: true,
    status: 'ok',
    events: [first, second].map((told, at) => ({
      cursor: String(at + 1),
      id: notificationId(told),
      sequence: at + 1,
      status: told.status,
      created_at: told.created_at.toISOString(),
      body: told.body,
    })),
    next: '2',
    more: false,
  })
  expect(await ask(feedQuestion(shop.test, '', 1))).toMatchObject({ body: { next: '1', more: true } })
  expect(await ask(feedQuestion(shop.test, '1'))).toMatchObject({ body: { next: '2', more: false } })
  expect(await ask(feedQuestion(shop.test, '2'))).toMatchObject({ body: { events: [], next: '2' } })
  expect((await ask(feedQuestion(shop.live))).body.events).toHaveLength(1)
})

test('a hash in the other reading of the secret, in capitals, is taken', async () => {
  const asBytes = Buffer.from(shop.test.secret_key, 'hex') as unknown as string
  const { merchant_key } = shop.test
  const secure_hash = sign(asBytes, `after=&merchant_key=${merchant_key}`).toUpperCase()
  expect((await ask({ merchant_key, secure_hash })).http).toBe(200)
})

test('a deactivated merchant can still ask', async () => {
  const closed = await gateway.addMerchant()
  await gateway.deactivate(closed.merchant_id)
  expect((await ask(feedQuestion(closed.test))).http).toBe(200)
})

test('a merchant whose key is public signs all the same', async () => {
  const open = await gateway.addMerchant('unsigned_requests=on')
  expect((await ask({ merchant_key: open.test.merchant_key })).http).toBe(401)
})

test('errors_as_200: a refusal is answered with 200', async () => {
  const old = await gateway.addMerchant('errors_as_200=on')
  const answer = await ask({ merchant_key: old.test.merchant_key })
  expect([answer.http, answer.body.status_code, answer.body.error.code]).toEqual([200, 401, 'GW-010'])
})

test("the merchant's own rate holds here too", async () => {
  const slow = await gateway.addMerchant('rate_limit=1', 'rate_burst=1')
  expect((await ask(feedQuestion(slow.test))).http).toBe(200)
  const answer = await ask(feedQuestion(slow.test))
  expect([answer.http, answer.headers.get('retry-after')]).toEqual([429, '1'])
})

test('guessing is slow, and honest questions from the same address are not', async () => {
  const wrong = { ...feedQuestion(shop.test), secure_hash: '1'.repeat(64) }
  const answers = await Promise.all(Array.from({ length: 150 }, () => ask(wrong)))
  expect(new Set(answers.map(({ http }) => http))).toEqual(new Set([401, 429]))
  expect((await ask(feedQuestion(shop.test))).http).toBe(200)
})
