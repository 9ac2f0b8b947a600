import type { Checkout } from '../../../src/actions/payments/openCheckout.ts'
import { type Lang, languages } from '../../../src/core/languages/languages.ts'
import { readMerchantSettings } from '../../../src/core/merchant/settings.ts'
import { type Attempt, isUnresolved, requestEndsAt } from '../../../src/core/payment/attempt.ts'
import { noOutcome } from '../../../src/core/payment/payment.ts'
import { accountHealths } from '../../../src/core/provider/health.ts'
import sandbox from '../../../src/providers/sandbox.ts'
import type { View } from '../../../src/web/checkout/view.ts'
import { noTools } from '../payments/simulatedNode.ts'
import { fixedAccounts } from '../payments/fixedAccounts.ts'

export const noon = new Date('2026-11-15T12:00:00Z')
export const token = `${'m'.repeat(10)}${'t'.repeat(32)}`

export const sandboxAccount = sandbox.open({ url: 'http://localhost', key: 'key' }, noTools)
const methods = fixedAccounts(new Map([['sandbox', sandboxAccount]])).availableMethods({
  merchant_id: 'm'.repeat(10),
  mode: 'test',
  currency: 'GHS',
  total: 2500n,
})

// One method is slow, one does not respond; the latter comes last.
const healthOf = (payment_method: string) =>
  payment_method === 'mtn_mobile_money' ? 'degraded' : payment_method === 'card' ? 'down' : 'healthy'
export const troubled = methods
  .map(method => ({ ...method, health: healthOf(method.payment_method) }) as const)
  .toSorted((a, b) => accountHealths.indexOf(a.health) - accountHealths.indexOf(b.health))

const testerPageOf = (attempts: readonly Attempt[] = []) =>
  attempts.filter(isUnresolved).map(({ attempt_id }) => sandboxAccount.testerPage?.(attempt_id))[0]

function endsOf(attempts: readonly Attempt[] = []): Date | undefined {
  const open = attempts.find(isUnresolved)
  const method = sandboxAccount.methods.find(({ payment_method }) => payment_method === open?.payment_method)
  return open && method && requestEndsAt(open, method.lifetimeMs)
}

// A new payment, changed by what the test gives.
export const checkoutOf = (more: Partial<Checkout> = {}): Checkout => ({
  ...noOutcome,
  merchant_id: 'm'.repeat(10),
  merchant_name: 'Ama Shop',
  merchant_active: true,
  settings: readMerchantSettings({}),
  unreadable: [],
  returned: [],
  testerPage: more.mode === 'live' ? undefined : testerPageOf(more.attempts),
  requestEndsAt: endsOf(more.attempts),
  tx_reference: 'TG-01JX2A-7K3M5Q-9XD0',
  mode: 'test',
  invoice_id: 'AMA-1042',
  tx_token: token,
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
  description: 'Two straw hats, order 1042',
  line_items: null,
  branding: {},
  outlet: null,
  pymt_instrument: null,
  wallet_issuer_hint: null,
  extra: {},
  request_digest: Buffer.alloc(0),
  created_at: noon,
  updated_at: noon,
  expires_at: new Date(noon.getTime() + 58 * 60_000),
  traceparent: null,
  attempts: [],
  stage: 'choose',
  obstacle: undefined,
  seconds: 0,
  methods: methods,
  ...more,
})

export const attemptFor = (more: Partial<Attempt> = {}): Attempt => ({
  merchant_id: 'm'.repeat(10),
  attempt_id: `${'m'.repeat(10)}${'a'.repeat(26)}`,
  tx_reference: 'TG-01JX2A-7K3M5Q-9XD0',
  number: 1,
  provider_account: 'sandbox',
  mode: 'test',
  account_identity: null,
  idempotency_key: null,
  payment_method: 'mtn_mobile_money',
  state: 'pending',
  reason: null,
  instrument: '+233244123456',
  payer: null,
  lang: null,
  given: {},
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
  next_poll_at: null,
  created_at: noon,
  updated_at: noon,
  ended_at: null,
  ...more,
})

export const viewOf = (more: Partial<Checkout> = {}, lang: Lang = 'en'): View => ({
  checkout: checkoutOf(more),
  lang,
  t: languages[lang],
  now: noon,
  baseUrl: 'https://pay.example',
  formToken: 'token-of-the-form',
})

const shopUrls = {
  success_url: 'https://shop.example/thanks?order=1042',
  cancelled_url: 'https://shop.example/cart',
}
const failedTry = attemptFor({ state: 'failed', reason: 'insufficient_funds', ended_at: noon })
const paidFacts = {
  stage: 'paid',
  status: 'paid',
  payment_method: 'mtn_mobile_money',
  payment_instrument: '024 ••• 3456',
  payment_reference: 'MP261115.1042.A00001',
  payment_time: noon,
} as const

// Every page of a payment.
export const scenes: Readonly<Record<string, Partial<Checkout>>> = {
  choose: { ...shopUrls },
  chooseKnown: { number: '+233244123456', mode: 'live' },
  chooseTroubled: { methods: troubled, shut: ['card'], number: '+233244123456', mode: 'live' },
  nowhere: { methods: [], mode: 'live' },
  wait: { stage: 'wait', attempts: [attemptFor()], ...shopUrls },
  waitText: { stage: 'wait', attempts: [attemptFor({ provider_text: 'Dial *170# to approve.' })] },
  waitUnknown: { stage: 'wait', attempts: [attemptFor({ state: 'unknown' })], mode: 'live' },
  waitCard: {
    stage: 'wait',
    attempts: [
      attemptFor({ payment_method: 'card', instrument: null, redirect_url: 'https://psp.example/pay/1' }),
    ],
  },
  waitQr: {
    stage: 'wait',
    attempts: [attemptFor({ payment_method: 'ghqr', instrument: null, qr: 'https://pay.example/q/123' })],
  },
  waitBank: {
    stage: 'wait',
    attempts: [
      attemptFor({
        payment_method: 'card',
        instrument: null,
        redirect_url: 'https://psp.example/pay/1',
        returned_at: noon,
      }),
    ],
  },
  step: {
    stage: 'step',
    attempts: [
      attemptFor({
        state: 'needs_input',
        step: { name: 'otp', text: 'Enter the code.', fields: [{ name: 'otp', kind: 'digits' }] },
      }),
    ],
    ...shopUrls,
  },
  stepAgain: {
    stage: 'step',
    mode: 'live',
    attempts: [
      attemptFor({
        state: 'needs_input',
        submits: 1,
        submitted_at: noon,
        step: { name: 'voucher', fields: [{ name: 'voucher_code', kind: 'digits' }] },
      }),
    ],
  },
  waitGivenUp: { stage: 'wait', attempts: [attemptFor({ gave_up_at: noon, gave_up_for: 'number' })] },
  chooseGivenUp: {
    number: '+233244123456',
    attempts: [attemptFor({ state: 'failed', reason: 'withdrawn', gave_up_at: noon, gave_up_for: 'number' })],
  },
  disputed: { stage: 'disputed', attempts: [attemptFor({ state: 'disputed' })] },
  failed: { stage: 'failed', status: 'failed', attempts: [failedTry], ...shopUrls },
  over: { stage: 'over', status: 'failed', attempts: [failedTry], ...shopUrls },
  expired: { stage: 'expired', expires_at: noon, ...shopUrls },
  cancelled: { stage: 'cancelled', status: 'cancelled', ...shopUrls },
  cancelWished: { stage: 'cancelled', cancel_requested_at: noon, attempts: [attemptFor()] },
  paid: { ...paidFacts, ...shopUrls },
  paidHere: { ...paidFacts, mode: 'live' },
  closed: { stage: 'closed', merchant_active: false, mode: 'live', ...shopUrls },
}
