import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { sql } from '../../src/store/db.ts'
import { followFeed } from '../support/deliveries/notifications.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { checkStatus, newInvoice, post, send, sign, signedRequest } from '../support/merchant/merchant.ts'

// One merchant has a setting or a secret that cannot be read. What it guards is shut, and nobody else notices.
let gateway: TestGateway
let ama: TestMerchant
let kofi: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  ama = await gateway.addMerchant()
  kofi = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

// Caches are half a second old at most.
async function spoil(settings: Record<string, unknown>) {
  await gateway.db.rows(sql`
    update merchants set settings = ${JSON.stringify(settings)} where merchant_id = ${ama.merchant_id}`)
  await new Promise(done => setTimeout(done, 600))
}

const ask = (shop: TestMerchant) => post(gateway.url, signedRequest(shop.test))
const askUnsigned = (shop: TestMerchant) =>
  send(
    `${gateway.url}/gateway?${new URLSearchParams({ merchant_key: shop.test.merchant_key, invoice_id: newInvoice(), total: '5.00' }).toString()}`,
  )
const check = (shop: TestMerchant, invoice_id: string) =>
  checkStatus(gateway.url, { merchant_key: shop.test.merchant_key, invoice_id })
const follow = (shop: TestMerchant) => followFeed(gateway.url, shop.test)

describe('doors', () => {
  let invoice_id: string
  beforeAll(async () => {
    const request = signedRequest(ama.test)
    expect((await post(gateway.url, request)).http).toBe(200)
    invoice_id = request.invoice_id
  })

  for (const [name, shut] of [
    ['unsigned_requests', ['ask']],
    ['allowed_origins', ['ask']],
    ['form_ipn_url', ['ask']],
    ['public_extra', []],
    ['min_total', ['ask']],
    ['max_total', ['ask']],
    ['currencies', ['ask']],
    ['rate_limit', ['ask', 'check', 'follow']],
    ['rate_burst', ['ask', 'check', 'follow']],
    ['signed_status_checks', ['check']],
    ['expiry_minutes', []],
    ['ipn_style', []],
    ['ipn_url', []],
    ['contact_email', []],
    ['errors_as_200', []],
    ['retry_after_failure', []],
    ['reopen_unpaid', []],
    ['long_invoice_ids', []],
    ['frame_origins', []],
  ] as [string, string[]][])
    test(`${name} cannot be read: ${shut.join(', ') || 'nothing'} is shut, and everything else is open`, async () => {
      await spoil({ [name]: { of: 'a newer version' } })
      const answers = { ask: await ask(ama), check: await check(ama, invoice_id), follow: await follow(ama) }
      for (const [door, { http, headers, body }] of Object.entries(answers)) {
        expect([door, http]).toEqual([door, shut.includes(door) ? 503 : 200])
        if (http === 200) continue
        expect(headers.get('retry-after')).toBe('60')
        expect(body.error).toMatchObject({ code: 'GW-050', message: expect.stringContaining(name) })
      }
      expect((await ask(kofi)).http).toBe(200)
    })

  test('an unsigned request is never let in by a setting that cannot be read', async () => {
    await spoil({ unsigned_requests: 'perhaps' })
    expect((await askUnsigned(ama)).http).toBe(503)
  })

  test('an unsigned question is answered masked while nobody can tell', async () => {
    await spoil({})
    const request = { ...signedRequest(ama.test), extra_email: 'ama.mensah@mail.example' }
    expect((await post(gateway.url, request)).http).toBe(200)
    await spoil({ unsigned_requests: 'perhaps' })
    const { text } = await check(ama, request.invoice_id)
    expect(text).not.toContain('ama.mensah@mail.example')
    const text2 = `invoice_id=${request.invoice_id}&merchant_key=${ama.test.merchant_key}`
    const signed = await checkStatus(gateway.url, {
      merchant_key: ama.test.merchant_key,
      invoice_id: request.invoice_id,
      secure_hash: sign(ama.test.secret_key, text2),
    })
    expect(signed.text).toContain('ama.mensah@mail.example')
  })

  test('whoever cannot read a 503 gets it as 200', async () => {
    await spoil({ errors_as_200: 'on', rate_limit: 'x' })
    const { http, headers, body } = await ask(ama)
    expect([http, headers.get('retry-after'), body.status_code]).toEqual([200, '60', 503])
  })

  test('and when it is mended, all is as before', async () => {
    await spoil({ rate_limit: 'x', min_total: 'y' })
    expect((await setMerchant(gateway.db, ama.merchant_id, ['rate_limit=']))?.faults).toEqual([])
    expect((await setMerchant(gateway.db, ama.merchant_id, ['min_total=0.50']))?.faults).toEqual([])
    await new Promise(done => setTimeout(done, 600))
    expect((await ask(ama)).http).toBe(200)
  })
})

test('a secret that cannot be opened: this key is refused and logged, those of others are not', async () => {
  await spoil({})
  await gateway.db.rows(sql`
    update merchant_keys set sealed_secret = 'no secret' where merchant_key = ${ama.test.merchant_key}`)
  await new Promise(done => setTimeout(done, 600))
  const [mine, live, others] = await Promise.all([
    ask(ama),
    post(gateway.url, signedRequest(ama.live)),
    ask(kofi),
  ])
  expect([mine.http, live.http, others.http]).toEqual([503, 200, 200])
  expect(mine.body.error).toMatchObject({ code: 'GW-050', message: expect.stringContaining('secret') })
  expect(gateway.logs.filter(line => line.includes('GW-050') && line.includes('"cause"'))).not.toEqual([])
})
