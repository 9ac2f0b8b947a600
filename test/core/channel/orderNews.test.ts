import fc from 'fast-check'
import { expect, test } from 'vitest'
import { orderNews } from '../../../src/core/channel/orderNews.ts'

for (const told of [undefined, null, 'paid', 7, {}, { key: 'A-1' }])
  test(`not the provider's: ${JSON.stringify(told)}`, () => expect(orderNews(told)).toBeUndefined())

for (const [what, told, news] of [
  ['nothing', [], []],
  ['a key', [{ key: 'A-1' }], [{ key: 'A-1' }]],
  ['what else is said, and does not count', [{ key: 'A-1', state: 'paid', amount: 2500n }], [{ key: 'A-1' }]],
  ['an id', [{ key: 'A-1', provider_ref: 77 }], [{ key: 'A-1', provider_ref: '77' }]],
  ['an id that is none', [{ key: 'A-1', provider_ref: {} }], [{ key: 'A-1' }]],
  ['an empty id', [{ key: 'A-1', provider_ref: '' }], [{ key: 'A-1' }]],
  ['an id of odd bytes', [{ key: 'A', provider_ref: 'a\u0000' }], [{ key: 'A', provider_ref: 'a\\u0000' }]],
  ['a refund or a dispute', [{ key: 'A-1', check_reversals: true }], [{ key: 'A-1', check_reversals: true }]],
  [
    'amounts of a refund, which do not count',
    [{ key: 'A-1', check_reversals: 'yes', reversal: { amount: 5n } }],
    [{ key: 'A-1' }],
  ],
  [
    'keys that nobody can have',
    [{ key: '' }, { key: 7 }, { key: 'a b' }, { key: 'a\u0000' }, { key: 'ä' }],
    [],
  ],
  ['a key that is too long', [{ key: 'x'.repeat(101) }], []],
  ['rows that are none, and one that is', [null, 7, 'A-1', undefined, { key: 'A-1' }], [{ key: 'A-1' }]],
] as const)
  test(`a webhook with ${what}`, () => expect(orderNews(told)).toEqual(news))

test('one webhook tells of so many orders, and no more', () => {
  const many = Array.from({ length: 500 }, (_, at) => ({ key: `A-${at}` }))
  expect(orderNews(many)).toHaveLength(20)
})

test('whatever is told, nothing is thrown', () =>
  fc.assert(fc.property(fc.array(fc.anything()), told => Array.isArray(orderNews(told)))))
