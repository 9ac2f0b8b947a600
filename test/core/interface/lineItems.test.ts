import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Fields, parseJsonObject } from '../../../src/core/interface/json.ts'
import type { Refusal } from '../../../src/core/interface/refusal.ts'
import {
  parseRequest,
  presentFields,
  requestFingerprint,
  withoutLists,
} from '../../../src/core/interface/request.ts'
import { readStoredLineItems, storedLineItems } from '../../../src/core/lineItems.ts'

const base = '"merchant_key":"tk_1","invoice_id":"INV-1","generate_checkout_url":true'
const read = (items: string, total = '85.00', currency = 'GHS') => {
  const more = `"total":"${total}","currency":"${currency}"`
  const fields = parseJsonObject(`{${base},${more},"line_items":${items}}`)
  if (typeof fields === 'string') throw new Error(fields)
  return parseRequest(presentFields(fields))
}

const rice = '{"name":"Jollof, large","quantity":2,"total":"60.00"}'
const listOf = (count: number, item = '{"name":"x","total":1}') => `[${Array(count).fill(item).join(',')}]`

for (const [items, field, why] of [
  ['"rice"', 'line_items', 'must be a list'],
  ['{}', 'line_items', 'must be a list'],
  ['7', 'line_items', 'must be a list'],
  ['true', 'line_items', 'must be a list'],
  ['[1]', 'line_items[0].name', 'must be text'],
  ['["rice"]', 'line_items[0]', 'must be an object'],
  ['[[]]', 'line_items[0]', 'must be an object'],
  ['[null]', 'line_items[0]', 'must be an object'],
  ['[{"total":85}]', 'line_items[0].name', 'must be text'],
  ['[{"name":"","total":85}]', 'line_items[0].name', 'must not be empty'],
  ['[{"name":" \\u00a0","total":85}]', 'line_items[0].name', 'must not be empty'],
  ['[{"name":7,"total":85}]', 'line_items[0].name', 'must be text'],
  [`[{"name":"${'x'.repeat(81)}","total":85}]`, 'line_items[0].name', 'at most 80 characters'],
  ['[{"name":"a\\nb","total":85}]', 'line_items[0].name', 'control characters'],
  ['[{"name":"\\ud800","total":85}]', 'line_items[0].name', 'broken Unicode'],
  ['[{"name":"x"}]', 'line_items[0].total', 'must be text or a number'],
  [`[${rice},${rice},{"name":"x","total":"5.001"}]`, 'line_items[2].total', 'at most 2 decimals (got 5.001)'],
  ['[{"name":"x","total":-5}]', 'line_items[0].total', 'plain decimal'],
  ['[{"name":"x","total":8.5e1}]', 'line_items[0].total', 'plain decimal'],
  ['[{"name":"x","total":null}]', 'line_items[0].total', 'must be text or a number'],
  ['[{"name":"x","total":""}]', 'line_items[0].total', 'plain decimal'],
  ['[{"name":"x","quantity":0,"total":85}]', 'line_items[0].quantity', 'from 1 to 9999'],
  ['[{"name":"x","quantity":-1,"total":85}]', 'line_items[0].quantity', 'from 1 to 9999'],
  ['[{"name":"x","quantity":1.5,"total":85}]', 'line_items[0].quantity', 'from 1 to 9999'],
  ['[{"name":"x","quantity":10000,"total":85}]', 'line_items[0].quantity', 'from 1 to 9999'],
  ['[{"name":"x","quantity":"two","total":85}]', 'line_items[0].quantity', 'from 1 to 9999'],
  ['[{"name":"x","quantity":[2],"total":85}]', 'line_items[0].quantity', 'from 1 to 9999'],
  [listOf(11), 'line_items', 'at most 10 items'],
  [`[${rice}]`, 'line_items', 'their totals make 60.00, and total is 85.00'],
  [`[${rice},{"name":"x","total":25.01}]`, 'line_items', 'their totals make 85.01, and total is 85.00'],
  ['[{"name":"x","total":0}]', 'line_items', 'their totals make 0.00'],
] as const)
  test(`${items.slice(0, 60)} is refused at ${field}`, () => {
    let refusal: Refusal | undefined
    try {
      read(items)
    } catch (error) {
      refusal = error as Refusal
    }
    expect(refusal).toMatchObject({ http: 400, code: 'GW-012', field })
    expect(refusal?.message).toContain(`${field}: `)
    expect(refusal?.message).toContain(why)
  })

test('quantities default to one, something may be free, and what is not known is passed over', () => {
  const { line_items } = read(
    `[${rice},{"name":"Kelewele","total":25.00,"sku":"K1"},{"name":"Delivery","quantity":null,"total":"0"}]`,
  )
  expect(line_items).toEqual([
    { name: 'Jollof, large', quantity: 2, total: 6000n },
    { name: 'Kelewele', quantity: 1, total: 2500n },
    { name: 'Delivery', quantity: 1, total: 0n },
  ])
})

const totals = (items: string) => read(items, '5000', 'UGX').line_items?.map(({ total }) => total)

test('they are in the currency of the request', () => {
  expect(
    totals('[{"name":"x","total":"4000.00"},{"name":"y","total":1000},{"name":"z","total":0.00}]'),
  ).toEqual([4000n, 1000n, 0n])
  expect(() => totals('[{"name":"x","total":4999.5}]')).toThrow('line_items[0].total: UGX has no decimals')
  expect(() => totals('[{"name":"x","total":4999}]')).toThrow('their totals make 4999, and total is 5000')
})

test('ten items of eighty characters are read; none at all are as good as not sent', () => {
  expect(read(listOf(10, `{"name":"${'é'.repeat(80)}","total":8.5}`)).line_items).toHaveLength(10)
  for (const nothing of ['[]', 'null', '""']) expect(read(nothing).line_items).toBeUndefined()
})

const meaning = (items: string) => requestFingerprint(read(items))

test('they are part of what a request means, and a request without them means what it did', () => {
  expect(meaning('[]')).toBe('[["currency","GHS"],["total","8500"]]')
  const one = meaning('[{"name":"x","total":85}]')
  for (const same of ['[{"name":"x","total":"85.00"}]', '[{"total":85.0,"quantity":"1","name":"x","sku":7}]'])
    expect(meaning(same)).toBe(one)
  const two = '[{"name":"x","total":80},{"name":"y","total":5}]'
  for (const other of [
    '[{"name":"y","total":85}]',
    '[{"name":"x","quantity":2,"total":85}]',
    two,
    '[{"name":"y","total":5},{"name":"x","total":80}]',
    '[]',
  ])
    expect(meaning(other)).not.toBe(one)
})

test('a form has no lists: whatever it calls so is passed over', () => {
  const fields = { merchant_key: 'tk_1', invoice_id: 'INV-1', total: '5', line_items: '[{"name":"x"}]' }
  expect(parseRequest(presentFields(withoutLists(fields))).line_items).toBeUndefined()
})

test('nested numbers keep their digits, and a nested duplicate key is found', () => {
  const fields = parseJsonObject('{"a":[{"b":1.50,"__proto__":2.0},[3.00]],"c":{"d":[[4.0]]}}') as Fields
  expect(JSON.stringify(fields)).toBe(
    '{"a":[{"b":{"text":"1.50"},"__proto__":{"text":"2.0"}},[{"text":"3.00"}]],"c":{"d":[[{"text":"4.0"}]]}}',
  )
  expect({}).not.toHaveProperty('text')
  for (const twice of [
    '{"a":[1],"a":5}',
    '{"a":{"b":1},"a":null}',
    '{"a":[{"b":1,"b":[2]}]}',
    '{"a":[[1]],"a":{"0":1}}',
  ])
    expect(parseJsonObject(twice)).toContain('twice')
})

const items = fc.array(
  fc.record({
    name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
    quantity: fc.integer({ min: 1, max: 9999 }),
    total: fc.bigInt({ min: 0n, max: 10n ** 14n }),
  }),
  { minLength: 1, maxLength: 10 },
)

test('what is stored is what was sent', () => {
  fc.assert(
    fc.property(items, some => {
      expect(readStoredLineItems(JSON.parse(JSON.stringify(storedLineItems(some))))).toEqual(some)
    }),
  )
})

for (const odd of [
  null,
  undefined,
  [],
  {},
  'x',
  7,
  [null],
  [{}],
  [{ name: 'x', quantity: 1 }],
  [{ name: 'x', quantity: 1.5, total: '5' }],
  [{ name: 'x', quantity: 1, total: '-5' }],
  [{ name: 'x', quantity: 1, total: 'five' }],
])
  test(`${JSON.stringify(odd)} in the books is no list`, () => expect(readStoredLineItems(odd)).toBeNull())
