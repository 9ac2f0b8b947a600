import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberText, parseJsonObject } from '../../../src/core/interface/json.ts'

for (const [text, fault] of [
  ['', 'not valid JSON'],
  ['{', 'not valid JSON'],
  ["{'a':1}", 'not valid JSON'],
  ['{"a":01}', 'not valid JSON'],
  ['{"a":NaN}', 'not valid JSON'],
  ['[]', 'must be a JSON object'],
  ['null', 'must be a JSON object'],
  ['"text"', 'must be a JSON object'],
  ['{"total":1,"total":1}', '"total" twice'],
  ['{"total":"1","t\\u006ftal":"2"}', '"total" twice'], // the same key, spelled otherwise
  ['{"a":{"b":1,"b":2}}', '"b" twice'],
  [`${'{"a":'.repeat(17)}1${'}'.repeat(17)}`, 'nested deeper'],
  [`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'nested deeper'],
  [`{${'"a":[1],'.repeat(3000)}"b":1}`, 'more than 4,000 values'],
  [`{"a":"${'x'.repeat(9000)}`, 'not valid JSON'], // and has no end
] as const) {
  test(`${text.slice(0, 40)} is refused: ${fault}`, () => expect(parseJsonObject(text)).toContain(fault))
}

test('numbers keep the digits that were sent', () => {
  const fields = parseJsonObject('{"total": 10.50 , "b":[1,2],"c":-0.0e1,"d":{"total":7},"e":"1.0"}')
  expect(fields).toMatchObject({ total: new NumberText('10.50'), c: new NumberText('-0.0e1'), e: '1.0' })
  expect(fields).toMatchObject({
    b: [new NumberText('1'), new NumberText('2')],
    d: { total: new NumberText('7') },
  })
})

test('keys in strings, braces in strings and escaped quotes confuse nothing', () => {
  const text = '{"a":"{\\"total\\":1}","total":"x","b":"\\\\","c":[{"total":1},{"total":2}],"__proto__":"p"}'
  const fields = parseJsonObject(text) as Record<string, unknown>
  expect(fields.total).toBe('x')
  expect(Object.hasOwn(fields, '__proto__')).toBe(true)
})

const flat = fc.dictionary(
  fc.string(),
  fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(fc.jsonValue({ maxDepth: 2 })),
  ),
)

test('whatever JSON.stringify writes is read back, numbers as their text', () => {
  fc.assert(
    fc.property(flat, fc.nat(3), (value, indent) => {
      const fields = parseJsonObject(JSON.stringify(value, null, indent)) as Record<string, unknown>
      const plain = JSON.stringify(fields, (_, v) => (v instanceof NumberText ? Number(v.text) : v))
      expect(plain).toBe(JSON.stringify(value))
    }),
    { numRuns: 1000 },
  )
})

test('commas and brackets in a long text are none of its values', () => {
  const description = ',[{"\\'.repeat(10_000)
  expect(parseJsonObject(JSON.stringify({ description }))).toEqual({ description })
})

test('4,000 values are read, in a body of any length', () => {
  const cart = Array.from({ length: 3990 }, (_, at) => `item ${at}`)
  expect(parseJsonObject(JSON.stringify({ cart }))).toEqual({ cart })
})
