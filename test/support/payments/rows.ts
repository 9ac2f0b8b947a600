import type { Order } from '../../../src/core/provider/order.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { ReplyContext } from '../../../src/core/payment/applyReply.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import { type Payment, noOutcome } from '../../../src/core/payment/payment.ts'

// A typical payment and attempt; a test changes only the fields that it is about.
export const noon = new Date('2026-03-02T12:00:00Z')
export const seconds = (count: number) => count * 1000
export const minutes = (count: number) => count * 60_000
export const hours = (count: number) => count * 3_600_000
export const after = (ms: number, from = noon) => new Date(from.getTime() + ms)

export const aPayment = (changed: Partial<Payment> = {}): Payment => ({
  merchant_id: 'ama0000000',
  tx_reference: 'TG-1',
  mode: 'test',
  invoice_id: 'A-1',
  tx_token: 'token',
  status: 'awaiting_payment',
  status_reason: '',
  total: 2500n,
  currency: 'GHS',
  success_url: null,
  cancelled_url: null,
  deferred_url: null,
  ipn_url: null,
  number: null,
  email: null,
  name: null,
  description: null,
  line_items: null,
  outlet: null,
  pymt_instrument: null,
  wallet_issuer_hint: null,
  extra: {},
  request_digest: Buffer.alloc(0),
  created_at: noon,
  updated_at: noon,
  expires_at: after(hours(1)),
  traceparent: null,
  ...noOutcome,
  ...changed,
})

const hasEnded = (state: Attempt['state'] | undefined) => state === 'paid' || state === 'failed'

const firstId = 'ama0000000first'

export const anAttempt = (changed: Partial<Attempt> = {}): Attempt => ({
  merchant_id: 'ama0000000',
  attempt_id: firstId,
  tx_reference: 'TG-1',
  number: 1,
  provider_account: 'simulated',
  mode: 'test',
  account_identity: null,
  idempotency_key: null,
  payment_method: 'mtn_mobile_money',
  state: 'started',
  reason: changed.state === 'failed' ? 'declined' : null,
  instrument: '+233240000000',
  payer: 'digest',
  lang: null,
  given: hasEnded(changed.state) ? {} : { phone: '+233240000000' },
  provider_ref: null,
  redirect_url: null,
  qr: null,
  step: null,
  provider_text: null,
  provider_time: null,
  charged: null,
  charged_currency: null,
  fee: null,
  net: null,
  card_type: null,
  psp_response_code: null,
  psp_response_msg: null,
  provider_code: null,
  declined_at: null,
  check_reversals: false,
  acknowledged_at: null,
  sends: 1,
  resent_at: null,
  submits: 0,
  submitted_at: null,
  returned_at: null,
  gave_up_at: null,
  gave_up_for: null,
  polls: 0,
  next_poll_at: after(seconds(8)),
  created_at: noon,
  updated_at: noon,
  ended_at: hasEnded(changed.state) ? noon : null,
  ...changed,
})

// The context of a reply that is no older than the attempt.
export const replyContext: ReplyContext = {
  absentForMs: minutes(5),
  lifetimeMs: minutes(5),
  failureMayReverseForMs: hours(2),
  timing: {},
  askedAt: noon,
  sends: 1,
  submits: 0,
}

type Yes = Reply & { state: 'paid' }
export const yes: Yes = {
  state: 'paid',
  order: firstId,
  amount: 2500n,
  currency: 'GHS',
  provider_ref: 'P-1',
}
export const wrong: Yes = { ...yes, amount: 2400n }
export const no: Reply = { state: 'failed', reason: 'insufficient_funds' }
export const withdrawn: Reply = { state: 'failed', reason: 'withdrawn' }
export const pending: Reply = { state: 'pending' }
export const unclear: Reply = { state: 'unknown', words: 'HTTP 503' }
export const absent: Reply = { state: 'absent' }
export const notSent: Reply = { state: 'not_sent', words: 'connect ECONNREFUSED' }

// The `yes` above with the id of this order and a unique provider reference.
export const withOrderName = ({ attempt_id }: Order, reply: Reply): Reply =>
  reply?.state === 'paid' && reply.order === firstId
    ? {
        ...reply,
        order: attempt_id,
        ...(reply.provider_ref === yes.provider_ref && { provider_ref: `P-${attempt_id}` }),
      }
    : reply
