import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJsonObject, type Fields } from '../../../src/core/interface/json.ts'
import { Refusal } from '../../../src/core/interface/refusal.ts'
import { isSigned, keyReadings } from '../../../src/core/interface/signature.ts'
import { readSignedFields, signedString, timeRefusal } from '../../../src/core/interface/signedFields.ts'

const secret = '00112233445566778899aabbccddeeff'
const secrets = keyReadings(secret)
const names = ['outcome', 'total', 'ipn_url', 'email'] as const
const time = '1793000000'
const now = new Date(Number(time) * 1000)
const hashOf = (text: string) => createHmac('sha256', secret).update(text).digest('hex')
const read = (json: string) => readSignedFields(parseJsonObject(json) as Fields, names)

function refusalOf(work: () => unknown): Refusal {
  try {
    work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('it was not refused')
}

test('the string has every field but the hash, sorted by name, with the values as sent', () => {
  const fields = read(
    '{"total":25.50,"outcome":"paid","secure_hash":"ab","merchant_key":"tk_1","email":"","time":1793000000,"ipn_url":null}',
  )
  expect(signedString(fields)).toBe('email=&merchant_key=tk_1&outcome=paid&time=1793000000&total=25.50')
})

test('test vector', () => {
  const text = signedString({ merchant_key: 'tk_1', time, advance: '24h' })
  expect(text).toBe('advance=24h&merchant_key=tk_1&time=1793000000')
  expect(hashOf(text)).toBe('b30f29176b6560b3f56bb68c0016208dc4046992035d9484312501065f894473')
  expect(isSigned(secrets, [text], hashOf(text))).toBe(true)
})

for (const [what, json, field, message] of [
  ['no key', '{"time":1}', 'merchant_key', 'merchant_key: is missing or empty'],
  ['no time', '{"merchant_key":"tk_1"}', 'time', 'time: is missing or empty'],
  ['a time in words', '{"merchant_key":"tk_1","time":"now"}', 'time', 'time: must be unix seconds'],
  [
    'a name that the request does not have',
    '{"merchant_key":"tk_1","time":1,"outcom":"paid"}',
    'outcom',
    'outcom: is not a field of this request, which has merchant_key, time, secure_hash, outcome, total, ipn_url, email',
  ],
  ['an object', '{"merchant_key":"tk_1","time":1,"total":{}}', 'total', 'total: must be text or a number'],
  ['a number', '{"merchant_key":"tk_1","time":1,"outcome":7}', 'outcome', 'outcome: must be text'],
  ['a boolean', '{"merchant_key":"tk_1","time":1,"email":false}', 'email', 'email: must be text'],
  [
    'a value that reads like another field',
    '{"merchant_key":"tk_1","time":1,"ipn_url":"https://shop.example/?a=1&total=9"}',
    'ipn_url',
    'ipn_url: must not contain & and the name of a field and =',
  ],
] as const) {
  test(`${what} is refused`, () => {
    const refusal = refusalOf(() => read(json))
    expect([refusal.field, refusal.message]).toEqual([field, message])
  })
}

test('two requests never have the same string', () => {
  const value = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.stringMatching(/^[a&=]{0,6}$/),
    fc.constantFrom('1&email=2', 'x&total', 'total=1', '&outcome=', '1&tim', 'a&b=c'),
  )
  const request = fc.record({
    merchant_key: fc.constantFrom('tk_1', 'tk_2'),
    time: fc.constantFrom('1', '2'),
    outcome: fc.option(value, { nil: undefined }),
    total: fc.option(value, { nil: undefined }),
    ipn_url: fc.option(value, { nil: undefined }),
    email: fc.option(value, { nil: undefined }),
  })
  const seen = new Map<string, string>()
  fc.assert(
    fc.property(request, sent => {
      let fields
      try {
        fields = readSignedFields(sent, names)
      } catch {
        return
      }
      const same = JSON.stringify(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      const text = signedString(fields)
      expect(seen.get(text) ?? same).toBe(same)
      seen.set(text, same)
    }),
    { numRuns: 5000 },
  )
})

for (const [what, sent, message] of [
  ['now', time, undefined],
  ['300 seconds ago', String(Number(time) - 300), undefined],
  [
    '301 seconds ago',
    String(Number(time) - 301),
    'time: is 301 seconds before our clock; at most 300 are allowed',
  ],
  [
    'in an hour',
    String(Number(time) + 3600),
    'time: is 3600 seconds after our clock; at most 300 are allowed',
  ],
  ['in milliseconds', `${time}123`, 'time: is in milliseconds; send seconds'],
] as const) {
  test(`a time ${what}: ${message ? 'refused' : 'accepted'}`, () =>
    expect(timeRefusal({ time: sent }, now)?.message).toBe(message))
}
