import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countUnderCaps,
  type MessageCounts,
  overCaps,
  whyDropped,
} from '../../../src/core/message/messageRules.ts'
import { after, hours, noon } from '../../support/payments/rows.ts'

const rules = { smsPrefixes: ['+233', '+2289'], perRecipient: 3, perMerchant: 5 }

describe('a due message is dropped', () => {
  for (const [why, changed, status, words] of [
    ['a day late', { created_at: after(-hours(24)) }, 'paid', 'Could not be sent in 24 hours.'],
    ['paid meanwhile', { topic: 'failed' }, 'paid', 'The payment is paid by now.'],
    ['tried again', { topic: 'failed' }, 'awaiting_payment', 'The payment is awaiting_payment by now.'],
    ['no payment', {}, undefined, 'There is no such payment.'],
    [
      'a number abroad',
      { recipient: '+447700900123' },
      'paid',
      'The number begins with none of the allowed prefixes.',
    ],
    [
      'a neighbour',
      { recipient: '+22870000000' },
      'paid',
      'The number begins with none of the allowed prefixes.',
    ],
    ['a longer prefix', { recipient: '+22890000000' }, 'paid', undefined],
    ['an email has no prefix', { medium: 'email', recipient: 'ama@shop.example' }, 'paid', undefined],
    ['a notice has no payment', { topic: 'exhausted', medium: 'email' }, undefined, undefined],
    [
      'it was sent repeatedly without a saved result',
      { unanswered: 3 },
      'paid',
      'It was sent three times, and the result could not be saved.',
    ],
    ['all in order', {}, 'paid', undefined],
  ] as const)
    test(why, () => {
      const message: Parameters<typeof whyDropped>[0] = {
        created_at: noon,
        medium: 'sms',
        topic: 'paid',
        recipient: '+233241234567',
        unanswered: 2,
        ...changed,
      }
      expect(whyDropped(message, status, rules, noon)).toBe(words)
    })
})

const none = (): MessageCounts => ({ recipients: new Map(), merchants: new Map() })

test('a cap of 0 allows no message', () => {
  const message = { recipient: 'a', merchant_id: 'm' }
  expect(countUnderCaps(none(), message, { ...rules, perRecipient: 0 })).toContain('24 hours: 0.')
  expect(countUnderCaps(none(), message, { ...rules, perMerchant: 0 })).toContain('24 hours: 0.')
})

test('the caps hold within one batch', () => {
  const counts = none()
  const taken = Array.from('aaaabbbb', recipient =>
    countUnderCaps(counts, { recipient, merchant_id: 'm' }, rules),
  )
  expect(taken.map(words => words === undefined)).toEqual([true, true, true, false, true, true, false, false])
})

test('only the messages over a cap are postponed', () => {
  const message = fc.record({
    recipient: fc.constantFrom('a', 'b', 'c'),
    merchant_id: fc.constantFrom('m', 'n'),
  })
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 10 }),
      fc.array(message, { maxLength: 10 }),
      (ours, others) => {
        const counts = none()
        const all = [...ours, ...others]
        for (const { recipient, merchant_id } of all) {
          counts.recipients.set(recipient, (counts.recipients.get(recipient) ?? 0) + 1)
          counts.merchants.set(merchant_id, (counts.merchants.get(merchant_id) ?? 0) + 1)
        }
        const back = overCaps(ours, counts, rules)
        const left = ours.filter(one => !back.includes(one))
        const stays = (key: 'recipient' | 'merchant_id', word: string) =>
          [...left, ...others].filter(one => one[key] === word).length
        for (const { recipient, merchant_id } of left) {
          expect(stays('recipient', recipient)).toBeLessThanOrEqual(rules.perRecipient)
          expect(stays('merchant_id', merchant_id)).toBeLessThanOrEqual(rules.perMerchant)
        }
        if (counts.merchants.size === 0) expect(back).toEqual([])
      },
    ),
  )
})
