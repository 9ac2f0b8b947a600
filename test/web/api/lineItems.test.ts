import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant('unsigned_requests=on')
})
afterAll(() => gateway.stop())

const line_items = [
  { name: 'Jollof, "large"', quantity: 2, total: '20.00' },
  { name: 'Delivery \\ Osu, {1}', total: 5 },
]

const storedOf = async (tx_reference: string) =>
  (
    await gateway.db.rows<{ line_items: unknown }>(sql`
      select line_items from payments where tx_reference = ${tx_reference}`)
  )[0]?.line_items

test('what does not add up is refused by name, and nothing is stored', async () => {
  const request = signedRequest(shop.test, { total: '25.01', line_items })
  const { http, body } = await post(gateway.url, request)
  expect(http).toBe(400)
  expect(body.error).toMatchObject({ code: 'GW-012', field: 'line_items' })
  expect(body.message).toBe('line_items: their totals make 25.00, and total is 25.01')
  const right = await post(gateway.url, { ...request, line_items: [{ name: 'Rice', total: 25.01 }] })
  expect(right.http).toBe(200)
})

test('they are stored as they were sent, and the same request again finds them', async () => {
  const request = signedRequest(shop.test, { line_items })
  const first = await post(gateway.url, request)
  expect(first.http).toBe(200)
  expect(await storedOf(first.body.tx_reference)).toEqual([
    { name: 'Jollof, "large"', quantity: 2, total: '2000' },
    { name: 'Delivery \\ Osu, {1}', quantity: 1, total: '500' },
  ])
  const same = line_items.map(item => ({ quantity: '1', ...item, total: Number(item.total) }))
  expect((await post(gateway.url, { ...request, line_items: same })).body.tx_token).toBe(first.body.tx_token)
  for (const other of [undefined, [], line_items.toReversed(), [{ name: 'Rice', total: 25 }]])
    expect((await post(gateway.url, { ...request, line_items: other })).http).toBe(409)
})

test('many at once are stored each with its own', async () => {
  const requests = Array.from({ length: 40 }, (_, at) =>
    signedRequest(shop.test, at % 3 ? { line_items: [{ name: `Item ${at}`, total: '25.00' }] } : {}),
  )
  const answers = await Promise.all(requests.map(request => post(gateway.url, request)))
  for (const [at, { body }] of answers.entries())
    expect(await storedOf(body.tx_reference)).toEqual(
      at % 3 ? [{ name: `Item ${at}`, quantity: 1, total: '2500' }] : null,
    )
})

test('a form is read without them, at every address', async () => {
  const fields = { ...signedRequest(shop.test), line_items: 'whatever an old client means by it' }
  const form = new URLSearchParams(fields).toString()
  const { body } = await post(gateway.url, form, 'application/x-www-form-urlencoded')
  expect(body.success).toBe(true)
  expect(await storedOf(body.tx_reference)).toBeNull()
  expect((await send(`${gateway.url}/gateway?${form}`)).http).toBe(303)
})
