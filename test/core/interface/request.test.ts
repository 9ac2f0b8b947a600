import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Fields, NumberText, parseJsonObject } from '../../../src/core/interface/json.ts'
import { Refusal } from '../../../src/core/interface/refusal.ts'
import { parseRequest, presentFields, requestFingerprint } from '../../../src/core/interface/request.ts'

const base = { merchant_key: 'tk_1', invoice_id: 'INV-1', total: '25.00', generate_checkout_url: true }
const parse = (fields: Fields) => parseRequest(presentFields({ ...base, ...fields }))
const meaning = (fields: Fields) => requestFingerprint(parse(fields))

function faultOf(fields: Fields): string {
  try {
    parse(fields)
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal)
    const { code, field, message } = error as Refusal
    expect(code).toBe('GW-012')
    expect(message).toContain(field)
    return field ?? ''
  }
  return 'none'
}

const long = (length: number) => 'x'.repeat(length)
const urls = ['success_url', 'cancelled_url', 'deferred_url', 'ipn_url']

for (const [why, fields, field] of [
  ['invoice_id of 65 characters', { invoice_id: long(65) }, 'invoice_id'],
  ['invoice_id with &', { invoice_id: 'a&b' }, 'invoice_id'],
  ['invoice_id with =', { invoice_id: 'a=b' }, 'invoice_id'],
  ['invoice_id with a control', { invoice_id: 'a\nb' }, 'invoice_id'],
  ['invoice_id with a space first', { invoice_id: ' a' }, 'invoice_id'],
  ['invoice_id with a space last', { invoice_id: 'a ' }, 'invoice_id'],
  ['invoice_id in another script', { invoice_id: 'é' }, 'invoice_id'],
  ['invoice_id that is a record key', { invoice_id: 'status' }, 'invoice_id'],
  ['invoice_id that is an error key', { invoice_id: 'request_id' }, 'invoice_id'],
  ['invoice_id as a number', { invoice_id: new NumberText('7') }, 'invoice_id'],
  ['total with 3 decimals', { total: '5.001' }, 'total'],
  ['total as a list', { total: ['5'] }, 'total'],
  ['unknown currency', { currency: 'XAU' }, 'currency'],
  ['total with decimals in a currency without', { total: '5000.50', currency: 'UGX' }, 'total'],
  ['the same where it is a JSON number', { total: new NumberText('0.5'), currency: 'XOF' }, 'total'],
  ['the same before any later field', { total: '5000.50', currency: 'UGX', number: '12' }, 'total'],
  ['the same, named in a field of its own', { total: '5000.50', extra_currency: 'ugx' }, 'total'],
  ['invoice_id before a total', { invoice_id: 'a&b', total: '5000.50', currency: 'UGX' }, 'invoice_id'],
  ['3 decimals before an unknown currency', { total: '5.001', currency: 'XAU' }, 'total'],
  ['currency in lower case', { currency: 'ghs' }, 'currency'],
  ['phone that cannot be', { number: '12' }, 'number'],
  ['phone as a number', { number: new NumberText('233241234567') }, 'number'],
  ['email without an at', { email: 'ama.example' }, 'email'],
  ['email with a line break', { email: 'ama@shop.example\nbcc:x@y.z' }, 'email'],
  ['email too long', { email: `${long(250)}@a.bc` }, 'email'],
  ['name too long', { name: long(121) }, 'name'],
  ['name with NUL', { name: 'a\0b' }, 'name'],
  ['description too long', { description: long(501) }, 'description'],
  ['description with NUL', { description: 'a\0b' }, 'description'],
  ['description with a form feed', { description: 'a\fb' }, 'description'],
  ['name with a line break', { name: 'a\nb' }, 'name'],
  ['extra with a line break', { extra_note: 'a\nb' }, 'extra_note'],
  ['description with half a character', { description: '\ud800' }, 'description'],
  ['name as an object', { name: {} }, 'name'],
  ['generate_checkout_url false', { generate_checkout_url: false }, 'generate_checkout_url'],
  ['generate_checkout_url yes', { generate_checkout_url: 'yes' }, 'generate_checkout_url'],
  ['wallet hint unknown', { extra_wallet_issuer_hint: 'glo' }, 'extra_wallet_issuer_hint'],
  ['extra too long', { extra_note: long(256) }, 'extra_note'],
  ['extra with NUL', { extra_note: '\0' }, 'extra_note'],
  ['extra as an object', { extra_note: {} }, 'extra_note'],
  ['extra with an odd name', { 'extra_a b': 'x' }, 'extra_a b'],
  ...urls.flatMap(name =>
    [
      'ftp://a.example',
      'javascript:alert(1)',
      '//a.example',
      '/path',
      'https://',
      'https:///a.example',
      'https://user@a.example',
      'https://user:pw@a.example/',
      'https://a.example\\@b.example',
      'https://a.example/ b',
      'https://a.example/\u0000',
      'https://a.example:99999/',
      `https://a.example/${long(2048)}`,
    ].map(url => [`${name} ${url.slice(0, 40)}`, { [name]: url }, name] as const),
  ),
] as const) {
  test(`refused: ${why}`, () => expect(faultOf(fields as Fields)).toBe(field))
}

test('characters are counted as people count them', () => {
  expect(parse({ name: '😀'.repeat(120) }).name).toHaveLength(240)
  expect(faultOf({ name: '😀'.repeat(121) })).toBe('name')
})

test('21 extras are refused, 20 and the named ones are not', () => {
  const extras = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`extra_f${at}`, 'x']))
  const named = { extra_name: 'Ama', extra_mobile: '0241234567', extra_email: 'a@b.cd', extra_outlet: 'osu' }
  expect(Object.keys(parse({ ...extras, ...named }).extra)).toHaveLength(20)
  expect(faultOf({ ...extras, extra_more: 'x' })).toBe('extra_more')
})

for (const [a, b] of [
  [{ total: '25.00' }, { total: new NumberText('25') }],
  [{ total: '25.00' }, { total: '25.000' }],
  [
    { total: '5000.00', currency: 'UGX' },
    { total: new NumberText('5000'), currency: 'UGX' },
  ],
  [
    { total: '5000', currency: 'XOF', extra_currency: 'XOF' },
    { total: new NumberText('5000.0'), extra_currency: 'XOF' },
  ],
  [{ number: '0241234567' }, { number: '+233 24 123 4567' }],
  [{ cancel_url: 'https://a.example/no' }, { cancelled_url: 'https://a.example/no' }],
  [{ extra_name: 'Ama' }, { name: 'Ama' }],
  [{ extra_mobile: '0241234567' }, { number: '233241234567' }],
  [{ extra_email: 'a@b.cd' }, { email: 'a@b.cd' }],
  [{ extra_outlet: new NumberText('7') }, { extra_outlet: '7' }],
  [{ currency: 'GHS' }, {}],
  [{ description: 'one\r\ntwo\nthree\rfour\tfive' }, { description: 'one two three four five' }],
  [{ description: '' }, { description: null }],
  [{ generate_checkout_url: 'true' }, { generate_checkout_url: new NumberText('1') }],
  [{ secure_hash: 'AB' }, { secure_hash: 'ab' }],
  [{ unknown_field: 'x' }, {}],
  [
    { extra_a: '1', extra_b: '2' },
    { extra_b: '2', extra_a: '1' },
  ],
  [{ extra_wallet_issuer_hint: 'MTN' }, { extra_wallet_issuer_hint: 'mtn' }],
] as const) {
  test(`${JSON.stringify(a)} means ${JSON.stringify(b)}`, () => expect(meaning(a)).toBe(meaning(b)))
}

test('the same figure in another currency is another request, however many decimals it has', () => {
  expect(parse({ total: '5000', currency: 'UGX' }).total).toBe(5000n)
  expect(parse({ total: '50.00', currency: 'GHS' }).total).toBe(5000n)
  expect(meaning({ total: '5000', currency: 'UGX' })).not.toBe(meaning({ total: '50.00' }))
  expect(meaning({ total: '5000', currency: 'UGX' })).not.toBe(meaning({ total: '5000', currency: 'RWF' }))
})

const fields = {
  total: fc.constantFrom('25.00', '25.01'),
  currency: fc.constantFrom('GHS', 'USD'),
  success_url: fc.webUrl(),
  cancelled_url: fc.webUrl(),
  ipn_url: fc.webUrl(),
  number: fc.stringMatching(/^02[0-9]{8}$/),
  email: fc.stringMatching(/^[a-z]{1,9}@[a-z]{1,9}\.com$/),
  name: fc.string({ maxLength: 20 }),
  description: fc.string({ maxLength: 20 }),
  extra_note: fc.string({ maxLength: 20 }),
  extra_b: fc.string({ maxLength: 20 }),
}
const requests = fc.record(fields, { requiredKeys: [] })

test('two requests mean the same only when every field does', () => {
  fc.assert(
    fc.property(requests, requests, (a, b) => {
      const [one, other] = [
        present({ total: '25.00', currency: 'GHS', ...a }),
        present({ total: '25.00', currency: 'GHS', ...b }),
      ]
      expect(meaning(a) === meaning(b)).toBe(one === other)
    }),
    { numRuns: 2000 },
  )
})

const present = (request: Fields) =>
  JSON.stringify(
    Object.entries(request)
      .filter(([, value]) => value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

test('any JSON body gives a request or a refusal that names a field, never another error', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.oneof(fc.constantFrom(...Object.keys(fields), 'extra_x', 'voucher_code'), fc.string()),
        fc.jsonValue(),
      ),
      body => {
        const sent = parseJsonObject(JSON.stringify({ ...body, ...base }))
        try {
          parseRequest(presentFields(sent as Fields))
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
          expect((error as Refusal).field).toBeTruthy()
        }
      },
    ),
    { numRuns: 3000 },
  )
})
