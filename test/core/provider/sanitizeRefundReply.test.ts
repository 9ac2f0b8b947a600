import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sanitizeRefundReply as sanitize } from '../../../src/core/provider/sanitizeRefundReply.ts'

const requested = {
  idempotency_key: '0b9e6d1c-key',
  refund_reference: 'ama0000000refund',
  amount: 2500n,
  currency: 'GHS',
} as const
const success = { state: 'succeeded', refund: requested.idempotency_key, amount: 2500n, currency: 'GHS' }
const at = new Date('2026-11-18T12:00:00Z')
const otherRefund = { state: 'other_refund', words: expect.stringMatching(/./) }
const otherAmount = { ...otherRefund, acknowledged: true }

for (const [what, reply, sanitized] of [
  ['a success', success, success],
  [
    'a success under our own reference',
    { ...success, refund: requested.refund_reference },
    { ...success, refund: requested.refund_reference },
  ],
  ['a success without an amount', { ...success, amount: 'not_said' }, { ...success, amount: 'not_said' }],
  [
    'a success with facts, and with what is none',
    { ...success, provider_ref: 77, provider_code: 'OK', provider_time: at, secret: 'x' },
    { ...success, provider_ref: '77', provider_code: 'OK', provider_time: at },
  ],
  ['a success with a time that is none', { ...success, provider_time: new Date(Number.NaN) }, success],
  ['a success of another refund', { ...success, refund: 'another' }, otherRefund],
  ['a success of no refund', { ...success, refund: undefined }, otherRefund],
  ['a success of an empty name', { ...success, refund: '' }, otherRefund],
  ['a success of a part', { ...success, amount: 2400n }, otherAmount],
  ['a success of more', { ...success, amount: 2600n }, otherAmount],
  ['a success of an amount that is none', { ...success, amount: 25 }, otherAmount],
  ['a success of a negative amount', { ...success, amount: -2500n }, otherAmount],
  ['a success in another currency', { ...success, currency: 'EUR' }, otherAmount],
  ['a success without a currency', { ...success, currency: undefined }, otherAmount],
  ['pending', { state: 'pending', provider_ref: 'R\u0000' }, { state: 'pending', provider_ref: 'R\\u0000' }],
  ['absent', { state: 'absent', provider_ref: 'A' }, { state: 'absent' }],
  [
    'failed, with a number in its words',
    { state: 'failed', words: 'No wallet at +233 24 412 3456', provider_code: 'X' },
    { state: 'failed', words: 'No wallet at 024 ••• 3456', provider_code: 'X' },
  ],
  ['failed without words', { state: 'failed' }, { state: 'failed', words: 'The provider gives no reason.' }],
  [
    'refused',
    { state: 'failed', words: 'No', isRefused: true },
    { state: 'failed', words: 'No', isRefused: true },
  ],
  ['refused by a word', { state: 'failed', words: 'No', isRefused: 'yes' }, { state: 'failed', words: 'No' }],
  [
    'needs action without words',
    { state: 'needs_action' },
    {
      state: 'needs_action',
      words: 'The provider needs something from the operator, and does not say what.',
    },
  ],
  [
    'needs action',
    { state: 'needs_action', words: 'Top\u0000 up', provider_ref: '7' },
    { state: 'needs_action', words: 'Top up', provider_ref: '7' },
  ],
  [
    'unknown',
    { state: 'unknown', words: 'HTTP 503', acknowledged: true, restMs: 1e12, provider_code: 'X' },
    { state: 'unknown', words: 'HTTP 503', acknowledged: true, restMs: 3_600_000, provider_code: 'X' },
  ],
  [
    'not sent',
    { state: 'not_sent', words: 'HTTP 401', isRefusal: true },
    { state: 'not_sent', words: 'HTTP 401', isRefusal: true },
  ],
  ['an unknown state', { state: 'refunded' }, { state: 'unknown', words: 'The provider answered refunded.' }],
  ['nothing', undefined, { state: 'unknown', words: 'The provider answered undefined.' }],
  ['a word', 'succeeded', { state: 'unknown', words: 'The provider answered succeeded.' }],
] as const)
  test(`a reply to a refund: ${what}`, () => expect(sanitize(reply, requested)).toEqual(sanitized))

test('no value makes it throw, and none but a matching success succeeds', () =>
  fc.assert(
    fc.property(fc.anything(), fc.object(), (value, fields) => {
      expect(sanitize(value, requested).state).not.toBe('succeeded')
      const reply = sanitize({ ...fields, state: 'succeeded' }, requested)
      expect(['succeeded', 'other_refund']).toContain(reply.state)
      if (reply.state === 'succeeded') expect(reply).toMatchObject(success)
    }),
  ))
