import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sanitizeReceipt } from '../../../src/core/message/messenger.ts'
import { sanitizeResult } from '../../../src/core/message/messenger.ts'
import { sanitizeReply as understandIt } from '../../../src/core/provider/sanitizeReply.ts'

const long = 'x'.repeat(100_000)
const order = 'ama0000000first'
const sanitizeReply = (told: unknown) => understandIt(told, order)

describe('a provider', () => {
  for (const [name, told, heard] of [
    ['pending', { state: 'pending' }, { state: 'pending' }],
    ['absent', { state: 'absent', provider_ref: 'A' }, { state: 'absent' }],
    ['unknown', { state: 'unknown', words: 'HTTP\u0000 503' }, { state: 'unknown', words: 'HTTP 503' }],
    ['unknown without words', { state: 'unknown' }, { state: 'unknown', words: '' }],
    [
      'unknown, but taken',
      { state: 'unknown', words: 'HTTP 202', acknowledged: true },
      { state: 'unknown', words: 'HTTP 202', acknowledged: true },
    ],
    ['not sent', { state: 'not_sent', words: 'refused\u0000' }, { state: 'not_sent', words: 'refused' }],
    ['failed', { state: 'failed', reason: 'declined' }, { state: 'failed', reason: 'declined' }],
    [
      'paid, with all that belongs to it and nothing else',
      {
        state: 'paid',
        order,
        amount: 2500n,
        currency: 'GHS',
        provider_ref: 123,
        instrument: 'Visa •••• 1111',
        card_type: 'Visa\u0000',
        psp_response_code: 0,
        psp_response_msg: `Approved${' '.repeat(9)}${long}`,
        secret: 'x',
      },
      {
        state: 'paid',
        order,
        amount: 2500n,
        currency: 'GHS',
        provider_ref: '123',
        instrument: 'Visa •••• 1111',
        card_type: 'Visa',
        psp_response_code: '0',
        psp_response_msg: `Approved ${'x'.repeat(191)}`,
      },
    ],
    [
      'a sentence that names a number',
      { state: 'failed', reason: 'declined', psp_response_msg: 'Declined by +233 24 412 3456, code 51' },
      { state: 'failed', reason: 'declined', psp_response_msg: 'Declined by 024 ••• 3456, code 51' },
    ],
    [
      'a way on',
      { state: 'pending', redirect_url: 'https://bank.example/pay?a=1' },
      { state: 'pending', redirect_url: 'https://bank.example/pay?a=1' },
    ],
    ['a code', { state: 'pending', qr: '000201010212' }, { state: 'pending', qr: '000201010212' }],
  ] as const)
    test(name, () => expect(sanitizeReply(told)).toEqual(heard))

  const otp = { name: 'otp', fields: [{ name: 'otp', kind: 'digits', maxLength: 6 }] }
  const yes = { state: 'paid', order, amount: 2500n, currency: 'GHS' }
  const at = new Date('2026-03-02T12:00:00Z')

  for (const [name, told, heard] of [
    ['a step', { state: 'pending', step: otp }, { state: 'pending', step: otp }],
    [
      'a step with words of the provider',
      { state: 'pending', step: { ...otp, text: `Dial\u0000 *110#${long}` }, text: 'Hello\n' },
      { state: 'pending', step: { ...otp, text: `Dial *110#${'x'.repeat(290)}` }, text: 'Hello' },
    ],
    ['an amount that is not said', { ...yes, amount: 'not_said' }, { ...yes, amount: 'not_said' }],
    [
      'fee, net and the time of the provider',
      { ...yes, fee: 25n, net: 2475n, provider_time: at },
      { ...yes, fee: 25n, net: 2475n, provider_time: at },
    ],
    ['a fee and a time that are none', { ...yes, fee: 25, net: -1n, provider_time: '2026-03-02' }, yes],
    ['a time that no clock shows', { ...yes, provider_time: new Date(Number.NaN) }, yes],
    ['a time long before', { ...yes, provider_time: new Date(0) }, yes],
    [
      'refunds and disputes of a charge',
      {
        ...yes,
        reversals: [{ id: 7, amount: 500n, words: 'Refund\n7', at }],
        disputes: [{ id: 'D-1', state: 'lost', amount: 900n, words: '', due_at: at }],
      },
      {
        ...yes,
        reversals: [{ id: '7', amount: 500n, words: 'Refund 7', at }],
        disputes: [{ id: 'D-1', state: 'lost', amount: 900n, words: '', due_at: at }],
      },
    ],
    [
      'a dispute in a state that we do not know stays open',
      { ...yes, disputes: [{ id: 'D-1', state: 'awaiting-bank', amount: 900n }] },
      { ...yes, disputes: [{ id: 'D-1', state: 'open', amount: 900n, words: '' }] },
    ],
    ['a refund without an id', { ...yes, reversals: [{ amount: 500n, words: 'x' }] }, yes],
    [
      'a refund of no amount',
      {
        ...yes,
        reversals: [
          { id: 1, amount: '500' },
          { id: 2, amount: 0n },
        ],
      },
      yes,
    ],
    ['refunds that are none', { ...yes, reversals: 'all', disputes: [null, 7] }, yes],
    [
      'a refund of a failed charge does not count',
      { state: 'failed', reason: 'declined', reversals: [{ id: 1, amount: 500n }] },
      { state: 'failed', reason: 'declined' },
    ],
    ['what was charged in all', { ...yes, charged: 2550n }, { ...yes, charged: 2550n }],
    [
      'an amount above 2^53 - 1',
      { ...yes, amount: 2n ** 53n },
      {
        state: 'paid_mismatch',
        order,
        words: 'The provider says paid: 9007199254740992 of GHS, which is not an amount.',
      },
    ],
    ['a fee above 2^53 - 1', { ...yes, fee: 2n ** 63n - 1n, net: 2n ** 53n + 1n }, yes],
    [
      'an amount that the provider module could not read',
      { state: 'paid_mismatch', order, words: 'paid "twelve"', provider_ref: 'P-1' },
      { state: 'paid_mismatch', order, words: 'paid "twelve"', provider_ref: 'P-1' },
    ],
    [
      'a raw code, cut and masked',
      { state: 'failed', reason: 'refused', provider_code: `of 0244123456 ${'X'.repeat(200)}` },
      {
        state: 'failed',
        reason: 'refused',
        provider_code: expect.stringMatching(/^of 024\s•••\s3456 X{80,90}$/) as string,
      },
    ],
    [
      'a declined card on a page that is open',
      { state: 'declined', reason: 'card_declined', psp_response_code: '05' },
      { state: 'declined', reason: 'card_declined', psp_response_code: '05' },
    ],
    [
      'a wish to be left alone',
      { state: 'unknown', words: '429', restMs: 5000 },
      { state: 'unknown', words: '429', restMs: 5000 },
    ],
    [
      'a wish to be left alone for ever',
      { state: 'unknown', words: '429', restMs: Infinity },
      { state: 'unknown', words: '429', restMs: 3_600_000 },
    ],
    ['no wish', { state: 'unknown', words: '429', restMs: -1 }, { state: 'unknown', words: '429' }],
    [
      'a wish that is none',
      { state: 'unknown', words: '429', restMs: '9' },
      { state: 'unknown', words: '429' },
    ],
    [
      'a word that nobody knows',
      { state: 'unknown', words: 'CREATED', unknownCode: `CREATED\u0000${long}`, acknowledged: true },
      { state: 'unknown', words: 'CREATED', unknownCode: `CREATED ${'x'.repeat(52)}`, acknowledged: true },
    ],
  ] as const)
    test(name, () => expect(sanitizeReply(told)).toEqual(heard))

  for (const [what, step] of [
    ['nothing', null],
    ['a word', 'otp'],
    ['a name that no form has', { ...otp, name: 'o t p' }],
    ['a name that is too long', { ...otp, name: 'x'.repeat(31) }],
    ['no name', { fields: otp.fields }],
    ['no fields', { name: 'otp', fields: [] }],
    ['fields that are none', { name: 'otp', fields: 'otp' }],
    ['a field that nobody can draw', { name: 'otp', fields: [{ name: 'otp', kind: 'iris' }] }],
    ['one such field among others', { name: 'otp', fields: [...otp.fields, { name: 'x', kind: 'iris' }] }],
    ['a field without a name', { name: 'otp', fields: [{ kind: 'digits' }] }],
    ['a field that is none', { name: 'otp', fields: [null] }],
    ['too many fields', { name: 'otp', fields: Array.from({ length: 6 }, () => otp.fields[0]) }],
  ] as const)
    test(`an invalid step still acknowledges the order: ${what}`, () =>
      expect(sanitizeReply({ state: 'pending', step })).toMatchObject({
        state: 'unknown',
        acknowledged: true,
      }))

  for (const told of [
    undefined,
    null,
    'paid',
    {},
    [],
    { state: 'PAID' },
    { state: 'failed' },
    { state: 'failed', reason: 'toString' },
    { state: 'failed', reason: 7 },
    { state: 'pending', redirect_url: 'javascript:alert(1)' },
    { state: 'pending', redirect_url: '/pay' },
    { state: 'pending', redirect_url: 'https://bank.example/\u0000' },
    { state: 'pending', redirect_url: `https://bank.example/${long}` },
    { state: 'pending', redirect_url: 7 },
    { state: 'pending', qr: long },
    { state: 'pending', qr: '\ud800' },
    { state: 'pending', qr: '' },
  ])
    test(`no answer: ${JSON.stringify(told)?.slice(0, 60)}`, () =>
      expect(sanitizeReply(told)).toMatchObject({ state: 'unknown', words: expect.stringMatching(/./) }))

  for (const [amount, currency] of [
    [2n ** 53n, 'GHS'],
    [2n ** 63n, 'GHS'],
    [-1n, 'GHS'],
    [2500, 'GHS'],
    ['2500', 'GHS'],
    [2500n, undefined],
    [2500n, 'GHS\u0000'],
    [2500n, long],
  ])
    test(`a payment with an unreadable amount is not dropped: ${String(amount)} of ${JSON.stringify(currency)?.slice(0, 20)}`, () => {
      const heard = sanitizeReply({ state: 'paid', order, amount, currency, provider_ref: 'A' })
      expect(heard).toMatchObject({ state: 'paid_mismatch', provider_ref: 'A' })
      expect(heard).toMatchObject({ words: expect.stringContaining(String(amount)) })
    })

  for (const named of [undefined, null, '', 7, {}, 'other', `${order} `, order.toUpperCase(), long])
    test(`paid for another order: ${JSON.stringify(named)?.slice(0, 20)}`, () => {
      const told = { state: 'paid', order: named, amount: 2500n, currency: 'GHS', provider_ref: 'A-1' }
      const heard = sanitizeReply(told)
      expect(heard).toEqual({ state: 'other_order', words: expect.stringContaining('GHS 2500') })
      expect(heard).toMatchObject({ words: expect.stringContaining('A-1') })
    })

  test('an empty order name matches no order', () =>
    expect(understandIt({ state: 'paid', order: '', amount: 1n, currency: 'GHS' }, '').state).toBe(
      'other_order',
    ))

  for (const told of [
    { state: 'pending', redirect_url: 'javascript:alert(1)' },
    { state: 'pending', qr: '' },
    { state: 'failed', reason: 'because' },
  ])
    test(`unknown, and acknowledged: ${JSON.stringify(told)}`, () =>
      expect(sanitizeReply(told)).toMatchObject({ state: 'unknown', acknowledged: true }))

  test('the largest integer that JSON represents exactly is an amount', () => {
    const amount = 2n ** 53n - 1n
    expect(sanitizeReply({ state: 'paid', order, amount, currency: 'GHS' })).toMatchObject({
      state: 'paid',
      amount,
    })
  })

  test('any value becomes a valid reply', () =>
    fc.assert(fc.property(fc.anything(), told => sanitizeReply(told).state === 'unknown')))
})

describe('a messenger', () => {
  for (const [told, sent] of [
    [{ state: 'sent' }, { state: 'sent' }],
    [
      { state: 'sent', provider_ref: 'A\u0000' },
      { state: 'sent', provider_ref: 'A\\u0000' },
    ],
    [
      { state: 'rejected', reason: 'No.\u0000' },
      { state: 'rejected', reason: 'No.' },
    ],
    [
      { state: 'retry', reason: 'Wait.', afterMs: 5 },
      { state: 'retry', reason: 'Wait.', afterMs: 5 },
    ],
    [
      { state: 'retry', afterMs: Number.NaN },
      { state: 'retry', reason: '' },
    ],
    [
      { state: 'retry', afterMs: -1 },
      { state: 'retry', reason: '' },
    ],
    [
      { state: 'retry', reason: '', afterMs: 1e12 },
      { state: 'retry', reason: '', afterMs: 86_400_000 },
    ],
    [undefined, { state: 'retry', reason: 'The messenger answered undefined.' }],
    [{ state: 'SENT' }, { state: 'retry', reason: 'The messenger answered SENT.' }],
  ])
    test(JSON.stringify(told) ?? 'nothing', () => expect(sanitizeResult(told)).toEqual(sent))

  for (const [told, receipt] of [
    [
      { provider_ref: 'A\u0000', state: 'lost', reason: 'No.\u0000' },
      { provider_ref: 'A\\u0000', state: 'lost', reason: 'No.' },
    ],
    [
      { provider_ref: 7, state: 'delivered' },
      { provider_ref: '7', state: 'delivered', reason: '' },
    ],
    [{ state: 'delivered', reason: '' }, undefined],
    [{ provider_ref: 'A', state: 'gone', reason: '' }, undefined],
    [undefined, undefined],
  ])
    test(`receipt ${JSON.stringify(told)}`, () => expect(sanitizeReceipt(told)).toEqual(receipt))
})
