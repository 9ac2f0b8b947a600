import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, fieldWarnings, requestNames } from '../../../src/core/interface/fieldNames.ts'

for (const [a, b, distance] of [
  ['total', 'total', 0],
  ['total', 'totl', 1],
  ['total', 'toatl', 1],
  ['total', 'totaal', 1],
  ['total', 'tutal', 1],
  ['email', 'total', 4],
  ['', 'abc', 3],
] as const)
  test(`${a || 'nothing'} and ${b}: ${distance}`, () => expect(editDistance(a, b, 9)).toBe(distance))

test('a distance beyond the limit is the limit', () => {
  expect(editDistance('total', 'description', 3)).toBe(3)
})

test('no known name is warned of, whatever its value is', () => {
  for (const name of requestNames.all) expect(fieldWarnings({ [name]: '' }, requestNames), name).toEqual([])
})

test('every known name with one letter left out is suggested, or is another known one', () => {
  for (const name of [...requestNames.all].filter(one => one.length > 5 && !one.startsWith('extra_')))
    for (let at = 0; at < name.length; at++) {
      const wrong = name.slice(0, at) + name.slice(at + 1)
      const [warning] = fieldWarnings({ [wrong]: 'x' }, requestNames)
      if (warning) expect(warning.message, wrong).toMatch(/Did you mean \w+\?|Send it as/)
    }
})

test('any names at all: a short answer of printable texts', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 80 })), names => {
      const warnings = fieldWarnings(Object.fromEntries(names.map(name => [name, 'x'])), requestNames)
      expect(warnings.length).toBeLessThanOrEqual(10)
      for (const { field, message } of warnings) expect(field + message).toMatch(/^[\x20-\x7e]{0,300}$/)
    }),
  )
})
