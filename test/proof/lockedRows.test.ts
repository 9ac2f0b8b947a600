import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { askSlowMachine, checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
let other: TestMerchant
let holder: Client

beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_POOL_SIZE: '10' })
  shop = await gateway.addMerchant()
  other = await gateway.addMerchant()
  holder = new Client({ connectionString: gateway.databaseUrl })
  await holder.connect()
})
afterAll(async () => {
  await holder.end()
  await gateway.stop()
})

const clicks = 12

const cancel = (url: string) => send(`${url}/cancel`, { method: 'POST' })
const payNow = (url: string) =>
  send(`${url}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'number=1&payment_method=mtn_mobile_money&mtn_mobile_money.phone=0244123456',
  })

for (const [what, click] of [
  ['cancel', cancel],
  ['pay', payNow],
] as const)
  test(`${clicks} clicks on ${what} of a locked payment: others are served meanwhile`, async () => {
    const { checkout_url, tx_reference } = (await post(gateway.url, signedRequest(shop.test))).body
    await holder.query('begin')
    await holder.query('select 1 from payments where tx_reference = $1 for update', [tx_reference])
    let answered = 0
    const clicked = Array.from({ length: clicks }, () =>
      click(checkout_url).then(answer => {
        answered++
        return answer
      }),
    )
    await sleep(200) // they have come to the database by now
    const request = signedRequest(other.test)
    expect((await post(gateway.url, request)).http).toBe(200)
    const { merchant_key } = other.test
    expect((await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).http).toBe(200)
    expect(answered).toBeLessThan(clicks)
    for (const { http, headers, text } of await Promise.all(clicked)) {
      expect(http).toBe(503)
      expect(headers.get('retry-after')).toMatch(/^\d+$/)
      expect(text).toContain('Your payment is safe')
    }
    await holder.query('rollback')
    expect((await click(checkout_url)).http).toBe(303)
    const [attempts] = await gateway.db.rows<{ count: number }>(
      sql`select count(*)::integer from attempts where tx_reference = ${tx_reference}`,
    )
    expect(attempts?.count).toBe(what === 'pay' ? 1 : 0)
  })

test('an invoice that a paused node is storing: the requests that share its statement are stored', async () => {
  const request = signedRequest(shop.test)
  const { merchant_id } = shop
  await holder.query('begin')
  await holder.query(
    `insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency,
      request_digest, created_at, updated_at, expires_at)
    values ($1, 'TG-HELD', 'test', $2, 'held', 'awaiting_payment', 1, 'GHS', '', now(), now(), now())`,
    [merchant_id, request.invoice_id],
  )
  const held = post(gateway.url, request)
  // Who waits for the held one hears of it after a second.
  const others = Array.from({ length: 40 }, () => {
    const own = signedRequest(other.test)
    return askSlowMachine(() => post(gateway.url, own), 4500)
  })
  expect([...new Set((await Promise.all(others)).map(({ http }) => http))]).toEqual([200])
  expect(await held).toMatchObject({ http: 503, body: { error: { code: 'GW-050' } } })
  await holder.query('rollback')
  expect((await post(gateway.url, request)).http).toBe(200)
})
