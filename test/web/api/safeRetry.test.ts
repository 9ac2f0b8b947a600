import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { sql } from '../../../src/store/db.ts'
import { addOutlet } from '../../../src/store/merchants/merchants.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { newInvoice, post, send, signedRequest } from '../../support/merchant/merchant.ts'

// The merchant did not hear our answer and asks again; in between somebody has changed its settings. The payment is
// there, and the customer may be paying it: the answer is the one that was given.
let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

const held = async () => sleep(600) // on every node within a second

async function openShop(...settings: string[]) {
  const shop = await gateway.addMerchant(...settings)
  const outlet = { merchant_id: shop.merchant_id, code: 'osu', name: 'Osu', created_at: new Date() }
  await addOutlet(gateway.db, outlet)
  return shop
}

const settle = (shop: TestMerchant, ...changes: string[]) =>
  setMerchant(gateway.db, shop.merchant_id, changes)
const closeOutlet = (shop: TestMerchant) =>
  gateway.db.rows(sql`delete from outlets where merchant_id = ${shop.merchant_id}`)

const sent = {
  total: '25.00',
  success_url: 'https://shop.example/thanks',
  ipn_url: 'https://shop.example/ipn',
  extra_outlet: 'osu',
}
const wallet = { pymt_instrument: '0241234999', extra_wallet_issuer_hint: 'mtn' }
const count = async ({ merchant_id }: TestMerchant) =>
  (await gateway.db.rows(sql`select from payments where merchant_id = ${merchant_id}`)).length

const changes: [string, string, (shop: TestMerchant) => Promise<unknown>][] = [
  ['min_total', 'total', shop => settle(shop, 'min_total=30')],
  ['max_total', 'total', shop => settle(shop, 'max_total=20')],
  ['allowed_origins', 'success_url', shop => settle(shop, 'allowed_origins=https://new.example')],
  ['ipn_style', 'ipn_url', shop => settle(shop, 'ipn_style=basic', 'ipn_url=https://new.example/ipn')],
  ['form_ipn_url', 'ipn_url', shop => settle(shop, 'form_ipn_url=registered')],
  ['currencies', 'currency', shop => settle(shop, 'currencies=EUR')],
  ['the outlet', 'extra_outlet', closeOutlet],
  [
    'all of them',
    'total',
    async shop => {
      await settle(shop, 'min_total=30', 'currencies=EUR', 'allowed_origins=https://new.example')
      await closeOutlet(shop)
    },
  ],
]

for (const [what, field, change] of changes)
  test(`${what} changed in between: the same request finds its answer, any other is refused`, async () => {
    const shop = await openShop('unsigned_requests=on')
    const request = signedRequest(shop.test, sent)
    const { generate_checkout_url: _, ...form } = signedRequest(shop.test, sent)
    const direct = { ...signedRequest(shop.test, sent), generate_checkout_url: undefined, ...wallet }
    const byForm = () =>
      send(`${gateway.url}/gateway`, {
        method: 'POST',
        body: new URLSearchParams(form as Record<string, string>),
      })
    const ask = () => Promise.all([post(gateway.url, request), byForm(), post(gateway.url, direct)])

    const first = await ask()
    await change(shop)
    await held()
    const again = await ask()
    expect(again.map(({ http }) => http)).toEqual([200, 303, 200])
    expect(again.map(({ body }) => body)).toEqual(first.map(({ body }) => body))
    expect(again[1]?.headers.get('location')).toBe(first[1]?.headers.get('location'))
    expect(await count(shop)).toBe(3)

    for (const other of [
      { ...request, description: 'something else' },
      signedRequest(shop.test, { ...sent, invoice_id: newInvoice() }),
      signedRequest(shop.live, { ...sent, invoice_id: request.invoice_id }),
    ]) {
      const refused = await post(gateway.url, other)
      expect([refused.http, refused.body.error.code]).toEqual([400, 'GW-012'])
      if (what !== 'all of them') expect(refused.body.error.field).toBe(field)
    }
    expect(await count(shop)).toBe(3)
  })

test('a direct request that is repeated after a change does not charge a second time', async () => {
  const shop = await openShop()
  const direct = { ...signedRequest(shop.test, sent), generate_checkout_url: undefined, ...wallet }
  const { body } = await post(gateway.url, direct)
  await settle(shop, 'max_total=20')
  await held()
  expect((await post(gateway.url, direct)).body).toEqual(body)
  const attempts = await gateway.db.rows(sql`
    select from attempts where merchant_id = ${shop.merchant_id} and tx_reference = ${body.tx_reference}`)
  expect(attempts).toHaveLength(1)
})

test('a client that must now sign is refused without a hash', async () => {
  const shop = await openShop('unsigned_requests=on')
  const { secure_hash: _, generate_checkout_url: _url, ...form } = signedRequest(shop.test, sent)
  const ask = () =>
    send(`${gateway.url}/gateway?${new URLSearchParams(form as Record<string, string>).toString()}`)
  expect((await ask()).http).toBe(303)
  await settle(shop, 'unsigned_requests=off')
  await held()
  expect((await ask()).http).toBe(401)
})
