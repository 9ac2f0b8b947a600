import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sanitizeWebhook } from '../../../src/core/provider/webhook.ts'

for (const told of [undefined, null, 'paid', 7, {}, { idempotency_key: 'A-1' }])
  test(`not the provider's: ${JSON.stringify(told)}`, () => expect(sanitizeWebhook(told)).toBeUndefined())

for (const [what, told, news] of [
  ['nothing', [], []],
  ['a key', [{ idempotency_key: 'A-1' }], [{ idempotency_key: 'A-1' }]],
  [
    'what else is said, and does not count',
    [{ idempotency_key: 'A-1', state: 'paid', amount: 2500n }],
    [{ idempotency_key: 'A-1' }],
  ],
  ['an id', [{ idempotency_key: 'A-1', provider_ref: 77 }], [{ idempotency_key: 'A-1', provider_ref: '77' }]],
  ['an id that is none', [{ idempotency_key: 'A-1', provider_ref: {} }], [{ idempotency_key: 'A-1' }]],
  ['an empty id', [{ idempotency_key: 'A-1', provider_ref: '' }], [{ idempotency_key: 'A-1' }]],
  [
    'an id of odd bytes',
    [{ idempotency_key: 'A', provider_ref: 'a\u0000' }],
    [{ idempotency_key: 'A', provider_ref: 'a\\u0000' }],
  ],
  [
    'a refund or a dispute',
    [{ idempotency_key: 'A-1', check_reversals: true }],
    [{ idempotency_key: 'A-1', check_reversals: true }],
  ],
  [
    'a refund of ours',
    [{ idempotency_key: 'A-1', check_reversals: true, refund_key: 'R-1' }],
    [{ idempotency_key: 'A-1', check_reversals: true, refund_key: 'R-1' }],
  ],
  [
    'a key of a refund that nobody can have',
    [{ idempotency_key: 'A-1', refund_key: 'a b' }],
    [{ idempotency_key: 'A-1' }],
  ],
  [
    'amounts of a refund, which do not count',
    [{ idempotency_key: 'A-1', check_reversals: 'yes', reversal: { amount: 5n } }],
    [{ idempotency_key: 'A-1' }],
  ],
  [
    'keys that nobody can have',
    [
      { idempotency_key: '' },
      { idempotency_key: 7 },
      { idempotency_key: 'a b' },
      { idempotency_key: 'a\u0000' },
      { idempotency_key: 'ä' },
    ],
    [],
  ],
  ['a key that is too long', [{ idempotency_key: 'x'.repeat(101) }], []],
  [
    'rows that are none, and one that is',
    [null, 7, 'A-1', undefined, { idempotency_key: 'A-1' }],
    [{ idempotency_key: 'A-1' }],
  ],
] as const)
  test(`a webhook with ${what}`, () => expect(sanitizeWebhook(told)).toEqual(news))

test('the number of orders in one webhook is limited', () => {
  const many = Array.from({ length: 500 }, (_, at) => ({ idempotency_key: `A-${at}` }))
  expect(sanitizeWebhook(many)).toHaveLength(20)
})

test('no value makes it throw', () =>
  fc.assert(fc.property(fc.array(fc.anything()), told => Array.isArray(sanitizeWebhook(told)))))
