import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { checkStatus, send } from '../../support/merchant/merchant.ts'

// An old client splits the status line at `~` and reads the second field as the status. What it asked for must not be
// able to write that field.
let gateway: TestGateway
let shop: TestMerchant
let old: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
  old = await gateway.addMerchant('errors_as_200=on', 'unsigned_requests=on')
})
afterAll(() => gateway.stop())

type Question = { merchant_key: string; invoice_id: string }
const ask = (method: string, path: string, question: Question) =>
  method === 'GET'
    ? checkStatus(gateway.url, question, path)
    : send(gateway.url + path, { method, body: new URLSearchParams(question) })

const emptyLine = /^~error~\d{4}-\d\d-\d\dT[\d:.]+Z$/
const emptyRecord = { success: false, status: 'error', invoice_id: '', amount: '' }

async function expectNotRepeated(method: string, question: Question, http: number) {
  for (const path of ['/v1/gateway/status_chk', '/gateway/status_chk']) {
    const line = await ask(method, path, question)
    expect([line.http, line.text]).toEqual([http, expect.stringMatching(emptyLine)])
  }
  for (const path of ['/v1/gateway/json_status_chk', '/gateway/json_status_chk']) {
    const { body, text, http: status } = await ask(method, path, question)
    const { '': keyed, ...flat } = body
    expect([status, keyed]).toEqual([http, expect.objectContaining(emptyRecord)])
    if (path.startsWith('/v1') && method === 'GET')
      expect(flat).toMatchObject({ ...emptyRecord, error: { code: 'GW-005' } })
    else expect(flat).toEqual({})
    expect(text).not.toContain(`${JSON.stringify(question.invoice_id)}:{`)
    expect(text).not.toContain(`"invoice_id":${JSON.stringify(question.invoice_id)}`)
  }
}

for (const invoice_id of [
  'ORDER-77~paid~',
  'ORDER-77~paid~2026-03-02T09:30:00.000Z\r\nORDER-78',
  'a\nb~paid~',
  ' ORDER-77',
  '<b>ORDER-77</b>',
  'a&total=1',
  '7'.repeat(65),
  'status',
])
  test(`an invalid invoice id is repeated in no answer: ${JSON.stringify(invoice_id).slice(0, 30)}`, async () => {
    for (const method of ['GET', 'POST'])
      await expectNotRepeated(method, { merchant_key: old.live.merchant_key, invoice_id }, 200)
  })

test('nor is it with other settings, in test mode, or for an unknown merchant', async () => {
  for (const merchant_key of [shop.live.merchant_key, shop.test.merchant_key, 'tk_none'])
    await expectNotRepeated('GET', { merchant_key, invoice_id: 'ORDER-77~paid~' }, 404)
})

test('a valid invoice id is echoed, also with 64 characters, whatever the settings are', async () => {
  for (const invoice_id of ['x'.repeat(64), 'A 1/7#:_.-', '__proto__']) {
    const question = { merchant_key: old.live.merchant_key, invoice_id }
    const [field] = (await ask('GET', '/v1/gateway/status_chk', question)).text.split('~')
    expect(field).toBe(invoice_id)
    const { text } = await ask('GET', '/v1/gateway/json_status_chk', question)
    expect(text.startsWith(`{${JSON.stringify(invoice_id)}:{"success":false`)).toBe(true)
  }
})
