import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { tollgate, tollgateJson } from '../../cli/tollgate.ts'
import { openMailServer } from '../../messengers/mailServer.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import {
  type Answer,
  checkStatus,
  newInvoice,
  post,
  send,
  sign,
  signedRequest,
} from '../../support/merchant/merchant.ts'
import { followFeed } from '../../support/deliveries/notifications.ts'
import { postForm, shopOf } from '../../support/checkout/stages.ts'

// A currency without decimals through the whole house: nowhere may 5000 shillings become 50, or 500000.
let mails: Awaited<ReturnType<typeof openMailServer>>
let gateway: TestGateway
let shop: TestMerchant
const ugx = { currency: 'UGX' }

beforeAll(async () => {
  mails = await openMailServer()
  const env = { SMTP_URL: mails.url, SMTP_FROM: 'pay@tollgate.example' }
  gateway = await testGateway(env, { sandboxPace: 0.05 })
  shop = await gateway.addMerchant('currencies=GHS,UGX', 'max_total=50,UGX:8000000', 'min_total=0.5')
})
afterAll(async () => {
  await gateway.stop()
  await mails.stop()
})

const ask = (fields: Record<string, unknown>) => post(gateway.url, signedRequest(shop.test, fields))

// As a JSON number keeps its spelling on the wire, and is signed in another.
function askByNumber(invoice_id: string, spelled: string, signed: string) {
  const { merchant_key, secret_key } = shop.test
  const secure_hash = sign(
    secret_key,
    `invoice_id=${invoice_id}&merchant_key=${merchant_key}&total=${signed}`,
  )
  const fields = JSON.stringify({
    merchant_key,
    invoice_id,
    secure_hash,
    ...ugx,
    generate_checkout_url: true,
  })
  return post(gateway.url, `${fields.slice(0, -1)},"total":${spelled}}`)
}

const stored = (invoice_id: string) =>
  gateway.db.one<{ total: bigint; currency: string }>(
    sql`select total, currency from payments where invoice_id = ${invoice_id}`,
  )

const refusedWith = ({ http, body }: Answer, message: string, field = 'total') => {
  expect([http, body.error?.code, body.error?.field]).toEqual([400, 'GW-012', field])
  expect(body.message).toBe(`${field}: ${message}`)
}

const items = (...totals: unknown[]) => totals.map(total => ({ name: 'Rice', total }))

describe('the requested total', () => {
  test('5000, 5000.00 and the JSON numbers are the same 5000, and one payment', async () => {
    const invoice_id = newInvoice()
    const first = await ask({ invoice_id, total: '5000', ...ugx })
    expect(first.http).toBe(200)
    expect(await stored(invoice_id)).toEqual({ total: 5000n, currency: 'UGX' })
    for (const again of [
      await ask({ invoice_id, total: '5000.00', ...ugx }),
      await ask({ invoice_id, total: '5000.000000', ...ugx }),
      await askByNumber(invoice_id, '5000', '5000'),
      await askByNumber(invoice_id, '5000', '5000.00'),
      await askByNumber(invoice_id, '5000.0', '5000'),
    ])
      expect([again.http, again.body.tx_reference]).toEqual([200, first.body.tx_reference])
    for (const other of [
      { total: '50.00', currency: 'GHS' }, // as many minor units
      { total: '5001', ...ugx },
    ])
      expect((await ask({ invoice_id, ...other })).http).toBe(409)
  })

  test('a fraction of a shilling is refused, at every address and in every format', async () => {
    refusedWith(await ask({ total: '5000.50', ...ugx }), 'UGX has no decimals (got 5000.50)')
    refusedWith(await ask({ total: '5000.50', extra_currency: 'ugx' }), 'UGX has no decimals (got 5000.50)')
    refusedWith(await askByNumber(newInvoice(), '5000.5', '5000.50'), 'UGX has no decimals (got 5000.5)')
    const form = new URLSearchParams(
      signedRequest(shop.test, { total: '0.01', ...ugx }) as Record<string, string>,
    )
    const { http, text } = await send(`${gateway.url}/gateway`, { method: 'POST', body: form })
    expect(http).toBe(400)
    expect(text).toContain('UGX has no decimals (got 0.01)')
    refusedWith(await ask({ total: '50.001' }), 'at most 2 decimals (got 50.001)') // of cedis, as ever
  })

  test('items of a line are whole, too', async () => {
    expect((await ask({ total: '5000', ...ugx, line_items: items('4000.00', 1000) })).http).toBe(200)
    refusedWith(
      await ask({ total: '5000', ...ugx, line_items: items('4999.50', '0.50') }),
      'UGX has no decimals (got 4999.50)',
      'line_items[0].total',
    )
    refusedWith(
      await ask({ total: '5000', ...ugx, line_items: items('4999') }),
      'their totals make 4999, and total is 5000',
      'line_items',
    )
  })

  test('bounds are figures of the payment’s own currency', async () => {
    for (const total of ['1', '8000000']) expect((await ask({ total, ...ugx })).http).toBe(200)
    refusedWith(await ask({ total: '8000001', ...ugx }), 'must be from 1 to 8000000')
    refusedWith(await ask({ total: '50.01' }), 'must be from 0.50 to 50.00')
    const { data } = await tollgateJson(cli(), 'merchant', 'show', shop.merchant_id)
    expect(data.settings).toMatchObject({ min_total: '0.50', max_total: '50.00,UGX:8000000' })
  })
})

const cli = () => ({
  DATABASE_URL: gateway.databaseUrl,
  TOLLGATE_MASTER_KEY: '0'.repeat(64),
  PORT: '0',
})

const mailToEsi = () => mails.taken.find(({ to }) => to.includes('esi@example.com'))?.mail.text

describe('what is paid', () => {
  const invoice_id = newInvoice()
  let at: ReturnType<typeof shopOf>
  let token: string

  beforeAll(async () => {
    at = shopOf(gateway)
    token = await at.ask(shop, {
      invoice_id,
      total: '1250000',
      ...ugx,
      email: 'esi@example.com',
      line_items: [
        { name: 'Bed', total: '1000000' },
        { name: 'Mattress', total: 250000 },
      ],
    })
  })

  test('the page shows it in the usual notation', async () => {
    const { text } = await send(at.at(token))
    expect(text).toContain('UGX 1,250,000')
    expect(text).toMatch(/<span>1,000,000<\/span>.*<span>250,000<\/span>/s)
    expect(text).not.toMatch(/12,500\.00|1,250,000\.00|\.00</)
    expect((await send(`${at.at(token)}?lang=fr`)).text).toMatch(/1\u202f250\u202f000\u00a0UGX/)
  })

  test('the simulated provider is charged with it', async () => {
    await at.pay(token, { payment_method: 'card' })
    const charge = await at.attempt(token)
    const page = `${gateway.url}/sandbox/card/${charge}`
    expect((await send(page)).text).toContain('UGX 1,250,000')
    await postForm(page, { number: '4111111111111111', expiry: '09/40', cvv: '123', name: 'Ama' })
    await at.until(token, 'paid')
  })

  test('status check, feed, receipt, mail and the operator’s commands agree', async () => {
    const question = { merchant_key: shop.test.merchant_key, invoice_id }
    const { body, text } = await checkStatus(gateway.url, question)
    expect(body).toMatchObject({ amount: 1_250_000, total_amount_charged: 1_250_000, currency: 'UGX' })
    expect(body[invoice_id]).toMatchObject({ amount: '1250000.00', total_amount_charged: 1_250_000 })
    expect(text).toContain('"amount":1250000,"currency":"UGX"')
    const { events } = (await followFeed(gateway.url, shop.test)).body
    expect(events.at(-1).body).toContain('"amount":1250000,')
    expect((await send(at.at(`${token}/receipt`))).text).toContain('UGX 1,250,000')
    await expect.poll(mailToEsi).toContain('UGX 1,250,000')
    const reference = await at.reference(token)
    const { data } = await tollgateJson(cli(), 'payment', 'show', reference)
    expect(JSON.stringify(data)).toContain('"total":"1250000"')
    const shown = (await tollgate(cli(), 'payment', 'show', reference)).stdout
    expect(shown).toMatch(/amount +UGX 1250000\n/)
    expect(shown).toContain('UGX 1250000 taken')
  })
})
