import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { checkStatus, newInvoice, post, send, sign } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

type Hash = (fields: { invoice_id: string; merchant_key: string; total: string }) => string
type Keys = TestMerchant['test']

async function hintOf(hash: Hash, keys: Keys = shop.test, more: Record<string, unknown> = {}) {
  const fields = { invoice_id: newInvoice(), merchant_key: keys.merchant_key, total: '25.00' }
  const request = { ...fields, generate_checkout_url: true, ...more, secure_hash: hash(fields) }
  const { http, body, text } = await post(gateway.url, request)
  expect([http, body.error?.code]).toEqual([401, 'GW-010'])
  for (const { secret_key, ipn_secret } of [shop.test, shop.live])
    for (const secret of [secret_key, ipn_secret]) expect(text).not.toContain(secret)
  return { hint: body.error.hint, fields }
}

const text = ({ invoice_id, merchant_key, total }: Parameters<Hash>[0]) =>
  `invoice_id=${invoice_id}&merchant_key=${merchant_key}&total=${total}`

const mistakes: [string, string, (keys: Keys) => Hash][] = [
  [
    'merchant_key first',
    'other_order',
    keys => f =>
      sign(keys.secret_key, `merchant_key=${f.merchant_key}&invoice_id=${f.invoice_id}&total=${f.total}`),
  ],
  ['total without decimals', 'other_total', keys => f => sign(keys.secret_key, text({ ...f, total: '25' }))],
  ['merchant_key as the key', 'merchant_key', keys => f => sign(keys.merchant_key, text(f))],
  ['the signing secret', 'ipn_secret', keys => f => sign(keys.ipn_secret, text(f))],
  [
    'base64',
    'other_encoding',
    keys => f => createHmac('sha256', keys.secret_key).update(text(f)).digest('base64'),
  ],
  [
    'all fields',
    'all_fields',
    keys => f => sign(keys.secret_key, `extra_a=1&generate_checkout_url=true&${text(f)}`),
  ],
]

for (const [what, mistake, hash] of mistakes)
  test(`${what}: the answer names it, with the string to hash`, async () => {
    const { hint, fields } = await hintOf(hash(shop.test), shop.test, { extra_a: '1' })
    expect(hint).toMatchObject({ hashed_string: text(fields), mistake })
  })

test('live mode gets no hint, whatever the mistake is', async () => {
  for (const [, , hash] of mistakes) expect((await hintOf(hash(shop.live), shop.live)).hint).toBeUndefined()
})

test('a hash by the secret of live mode is not told from any other', async () => {
  const told = []
  for (const secret of [shop.live.secret_key, shop.live.ipn_secret, 'f'.repeat(64)])
    told.push((await hintOf(fields => sign(secret, text(fields)))).hint)
  for (const hint of told) {
    expect(hint.mistake).toBeUndefined()
    expect(hint.likely_mistake).toBe(told[0].likely_mistake)
  }
})

test('a JSON number that was hashed in a fourth way is named', async () => {
  const { hint } = await hintOf(f => sign(shop.test.secret_key, text({ ...f, total: '25.000' })), shop.test, {
    total: 25,
  })
  expect(hint.mistake).toBe('other_total')
})

test('the hash of a form and of a status check are diagnosed, too', async () => {
  const { merchant_key, secret_key } = shop.test
  const invoice_id = newInvoice()
  const reversed = sign(secret_key, `merchant_key=${merchant_key}&invoice_id=${invoice_id}`)
  const checked = await checkStatus(gateway.url, { merchant_key, invoice_id, secure_hash: reversed })
  expect(checked.body.error.hint).toMatchObject({
    hashed_string: `invoice_id=${invoice_id}&merchant_key=${merchant_key}`,
    mistake: 'other_order',
  })
  const total = '5.00'
  const ofRequest = sign(secret_key, text({ invoice_id, merchant_key, total }))
  const mixed = await checkStatus(gateway.url, { merchant_key, invoice_id, total, secure_hash: ofRequest })
  expect(mixed.body.error.hint.likely_mistake).toContain('total was hashed too')
  const ofCheck = sign(secret_key, `invoice_id=${invoice_id}&merchant_key=${merchant_key}`)
  const form = await send(`${gateway.url}/gateway`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ merchant_key, invoice_id, total, secure_hash: ofCheck }),
  })
  expect(form.body.error.hint.likely_mistake).toContain('total is missing')
})
