import { afterAll, beforeAll, expect, test } from 'vitest'
import { newAttemptId } from '../../src/runtime/ids.ts'
import { sql } from '../../src/store/db.ts'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'

// Callbacks and sandbox pages by strangers. Every test asks from an address of its own.
let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' }, { sandboxPace: 0.1 })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const callBack = (attempt_id: string, address: string) =>
  send(`${gateway.url}/callbacks/${attempt_id}`, {
    method: 'POST',
    body: '{}',
    headers: { 'x-forwarded-for': address },
  })

const askStatus = (invoice_id: string, address: string) => {
  const query = new URLSearchParams({ merchant_key: shop.test.merchant_key, invoice_id })
  return send(`${gateway.url}/v1/gateway/json_status_chk?${query.toString()}`, {
    headers: { 'x-forwarded-for': address },
  })
}

async function many(count: number, ask: (at: number) => ReturnType<typeof send>) {
  const answers: Awaited<ReturnType<typeof send>>[] = []
  for (let at = 0; at < count; at += 50)
    answers.push(
      ...(await Promise.all(Array.from({ length: Math.min(50, count - at) }, (_, n) => ask(at + n)))),
    )
  return answers
}
// As many as it takes: tokens are added while the test runs.
async function untilRefused(ask: (at: number) => ReturnType<typeof send>) {
  const answers: Awaited<ReturnType<typeof send>>[] = []
  for (;;) {
    const sent = answers.length
    answers.push(...(await many(100, at => ask(sent + at))))
    const refused = answers.find(({ http }) => http === 429)
    if (refused) return { answers, refused }
  }
}

const counted = (answers: readonly { http: number }[], http: number) =>
  answers.filter(answer => answer.http === http).length

async function startAttempt(address: string) {
  const request = signedRequest(shop.test, {
    generate_checkout_url: undefined,
    pymt_instrument: '0244123456',
    extra_wallet_issuer_hint: 'mtn',
  })
  const { tx_reference } = (await post(gateway.url, request)).body
  const find = async () => {
    const [attempt] = await attemptsOf(gateway.db, shop.merchant_id, tx_reference)
    if (!attempt) throw new Error('no attempt')
    return attempt
  }
  const { attempt_id } = await find()
  const status = async () => {
    return (await askStatus(request.invoice_id, address)).body.status
  }
  return { attempt_id, find, status }
}

test('unknown callbacks: a hundred at once, then 429 with Retry-After; a known attempt is always accepted from there', async () => {
  const address = '198.51.100.1'
  const { attempt_id, find, status } = await startAttempt(address)
  const { answers, refused } = await untilRefused(() => callBack(newAttemptId(shop.merchant_id), address))
  expect(counted(answers, 200)).toBeGreaterThanOrEqual(100)
  expect(counted(answers, 200) + counted(answers, 429)).toBe(answers.length)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.body).toMatchObject({ success: false, request_id: expect.stringMatching(/^req_/) })

  const before = (await find()).polls
  expect((await callBack(attempt_id, address)).http).toBe(200)
  await expect.poll(async () => (await find()).polls).toBeGreaterThan(before)
  const decided = new URLSearchParams({ decision: 'approve' })
  await send(`${gateway.url}/sandbox/phone/${attempt_id}`, { method: 'POST', body: decided })
  await callBack(attempt_id, address)
  await expect.poll(status).toBe('paid') // an unsigned status check from the same address
  expect(counted(await many(20, () => callBack(attempt_id, address)), 200)).toBe(20) // paid is known, too
})

test('ids of another shape are counted too, and refused without a query', async () => {
  const address = '198.51.100.2'
  const first = await callBack('nonsense', address)
  expect([first.http, first.text]).toEqual([404, 'no such address\n'])
  const { answers } = await untilRefused(at => callBack(`nonsense-${at}`, address))
  expect(counted(answers, 404)).toBeGreaterThanOrEqual(99)
})

test('a flood of forged webhooks takes nothing from the misses of the interface', async () => {
  const address = '198.51.100.3'
  const { answers } = await untilRefused(at =>
    send(`${gateway.url}/callbacks/account/nobody${at}`, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
    }),
  )
  expect(counted(answers, 404)).toBeGreaterThanOrEqual(100)
  const asked = await askStatus('none', address)
  expect(asked.http).not.toBe(429)
})

test('a flood for one known attempt is answered, and causes at most one poll a second', async () => {
  const { attempt_id, find } = await startAttempt('198.51.100.4')
  const before = (await find()).polls
  const started = performance.now()
  const answers = await many(500, () => callBack(attempt_id, '198.51.100.4'))
  const seconds = (performance.now() - started) / 1000
  expect(counted(answers, 200)).toBe(500)
  const polls = Math.ceil(seconds) + 2 // by the schedule, which asks as well
  expect((await find()).polls - before).toBeLessThanOrEqual(Math.ceil(seconds) + 1 + polls)
})

test('a callback that comes within the second after another is stored before it is answered', async () => {
  const { attempt_id, find } = await startAttempt('198.51.100.5')
  await callBack(attempt_id, '198.51.100.5')
  await gateway.db.rows(sql`
    update attempts set callback_received = false, next_poll_at = now() + interval '1 hour' where attempt_id = ${attempt_id}`)
  const before = (await find()).polls
  expect((await callBack(attempt_id, '198.51.100.5')).http).toBe(200)
  const { polls, callback_received } = (await find()) as unknown as {
    polls: number
    callback_received: boolean
  }
  expect(callback_received || polls > before).toBe(true)
})

for (const path of ['phone', 'card/00000000000'])
  test(`/sandbox/${path}: clients are limited by address, with a page and Retry-After; payment pages are not`, async () => {
    const headers = { 'x-forwarded-for': `198.51.100.1${path.length}`, accept: 'text/html' }
    const { refused } = await untilRefused(() => send(`${gateway.url}/sandbox/${path}`, { headers }))
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.text).toContain('Very many pages are being opened from your network.')
    const token = (await post(gateway.url, signedRequest(shop.test))).body.tx_token as string
    expect((await send(`${gateway.url}/checkout/${token}`, { headers })).http).toBe(200)
  })
