import { expect, test } from 'vitest'
import { NumberText } from '../../../src/core/interface/json.ts'
import { malformed, wrongHash } from '../../../src/core/interface/refusal.ts'
import { maskFields, refusedRequest } from '../../../src/core/interface/refusedRequest.ts'
import { noon } from '../../support/payments/rows.ts'

const hash = 'ab'.repeat(32)

for (const [name, value, stored] of [
  ['merchant_key', 'tk_abc', 'tk_abc'],
  ['invoice_id', 'AMA-1', 'AMA-1'],
  ['total', new NumberText('25.50'), '25.50'],
  ['generate_checkout_url', true, 'true'],
  ['secure_hash', hash, 'abababab…'],
  ['x_signature', hash, 'abababab…'],
  ['secret_key', hash, '(removed)'],
  ['merchant_secret', hash, '(removed)'],
  ['password', 'hunter2', '(removed)'],
  ['voucher_code', '123456', '(removed)'],
  ['pin', '1234', '(removed)'],
  ['number', '0244123456', '024 ••• 3456'],
  ['number', '+233 24 412 3456', '024 ••• 3456'],
  ['pymt_instrument', '0244123456', '024 ••• 3456'],
  ['extra_mobile', '0244123456', '024 ••• 3456'],
  ['email', 'ama@shop.example', 'a••@••'],
  ['name', 'Ama Mensah', 'A•••'],
  ['description', 'Hats for Ama', '(12 characters)'],
  ['phone', '0244123456', '(10 characters)'], // no field of ours, and personal all the same
  ['extra_customer', 'Ama', '(3 characters)'],
  ['success_url', 'https://shop.example/thanks?session=1', 'https://shop.example/thanks?…'],
  ['ipn_url', 'nowhere', '(7 characters)'],
  ['line_items', [1, 2], '(list of 2)'],
  ['total', {}, '(object)'],
  ['currency', null, ''],
  ['invoice_id', hash, '(removed)'], // the developer has mixed up the fields
  ['invoice_id', `A${'x'.repeat(180)}${hash}`, `A${'x'.repeat(180)}(removed)`],
  ['merchant_key', 'whsec_O3ZcXr1AkYazVlM28ixsOVojLQG4VP37wQJC9hIOINg=', '(removed)'],
  ['number', `0244123456${hash}`, '(removed)'],
] as const)
  test(`${name} ${JSON.stringify(value)} is stored as ${stored}`, () =>
    expect(maskFields({ [name]: value })).toEqual({ [name]: stored }))

test('the fields are bounded, and a name that is no name is not stored', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`f${at}`, 'x'.repeat(5000)]))
  expect(Object.keys(maskFields(many))).toHaveLength(40)
  expect(maskFields({ invoice_id: 'x'.repeat(5000) }).invoice_id).toHaveLength(200)
  expect(maskFields({ '{"number":"0244123456"': '' })).toEqual({ '(a name of 22 characters)': '' })
  expect(JSON.stringify(maskFields({ total: 'a\0b\ud800' }))).toBe('{"total":"a b�"}')
})

test('messages and hints do not repeat personal values', () => {
  const refusal = malformed('email', 'ama@shop.example is not allowed')
  const hashed = wrongHash('does not match this request')
  hashed.hint = { hashed_string: 'email=ama@shop.example&number=0244123456', likely_mistake: 'order' }
  const merchant = { merchant_id: 'm', mode: 'test' } as const
  const sent = {
    requestId: 'req_1',
    method: 'POST',
    path: '/v1',
    fields: { email: 'ama@shop.example', number: '0244123456' },
  }
  const stored = [refusal, hashed].map(one => refusedRequest({ ...sent, refusal: one }, merchant, noon))
  expect(stored[0]).toMatchObject({
    message: 'email: a••@•• is not allowed',
    http: 400,
    code: 'GW-012',
    hint: null,
  })
  expect(stored[1]?.hint).toEqual({
    hashed_string: 'email=a••@••&number=024 ••• 3456',
    likely_mistake: 'order',
  })
  expect(JSON.stringify(stored)).not.toMatch(/ama@shop|0244123456/)
})

test('a hint that repeats a secret is stored without it', () => {
  const refusal = wrongHash('does not match this request')
  refusal.hint = { hashed_string: `invoice_id=${hash}&merchant_key=tk_1`, likely_mistake: 'x' }
  const exchange = { requestId: 'req_1', method: 'GET', path: '/', refusal, fields: { invoice_id: hash } }
  const stored = refusedRequest(exchange, { merchant_id: 'ama', mode: 'test' }, noon)
  expect(JSON.stringify(stored)).not.toContain(hash)
  expect(stored.hint).toMatchObject({ hashed_string: 'invoice_id=(removed)&merchant_key=tk_1' })
})
