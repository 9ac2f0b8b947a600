import { expect, test } from 'vitest'
import type { SanitizedReply } from '../../../src/core/provider/reply.ts'
import { applyReply } from '../../../src/core/payment/applyReply.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import { after, anAttempt, aPayment, noon, seconds, replyContext } from '../../support/payments/rows.ts'

// A provider refused to take an order. That ends the attempt only if no other sending can have reached it.
const refused: SanitizedReply = {
  state: 'failed',
  reason: 'no_wallet',
  isStartRefused: true,
  provider_code: 'PAYER_NOT_FOUND',
}
const now = after(seconds(10))

for (const [what, changed, sends, state] of [
  ['sent once', {}, 1, 'failed'],
  ['sent again after a sending that never left', { sends: 2 }, 2, 'failed'],
  ['refused while another node has sent it again', { sends: 2, resent_at: noon }, 1, 'unknown'],
  ['refused when it was sent again', { sends: 2, resent_at: noon }, 2, 'unknown'],
  ['refused after the provider has shown it', { state: 'pending', acknowledged_at: noon }, 1, 'pending'],
] as [string, Partial<Attempt>, number, string][])
  test(`an order ${what}: ${state}`, () => {
    const attempt = anAttempt(changed)
    const change = applyReply(aPayment(), attempt, refused, now, { ...replyContext, askedAt: now, sends })
    expect(change.attempt).toMatchObject({ state, provider_code: 'PAYER_NOT_FOUND' })
    expect(change.payment.status).toBe(state === 'failed' ? 'failed' : 'awaiting_payment')
  })

test('a no to a question ends an attempt, however often it was sent', () => {
  const attempt = anAttempt({ sends: 2, resent_at: noon })
  const no: SanitizedReply = { state: 'failed', reason: 'no_wallet' }
  const change = applyReply(aPayment(), attempt, no, now, { ...replyContext, askedAt: now, sends: 2 })
  expect(change.attempt.state).toBe('failed')
})
