import type { Reason } from '../../core/provider/reason.ts'

// Why a charge failed stands in a sentence alone, of Paystack, of a network or of a bank, and they change them as they
// like: the first line that fits counts. What fits none is refused; the sentence is kept beside it.
type Fits = readonly (readonly [RegExp, Reason])[]

const always: Fits = [
  [/insufficient|not enough|low.?balance/i, 'insufficient_funds'],
  [/limit/i, 'limit_reached'],
]

const ofWallets: Fits = [
  ...always,
  [/otp|voucher|token/i, 'wrong_voucher'],
  [/time.?out|timed out|expired|no response|in time/i, 'no_answer'],
  [/inactive|not active|blocked|barred|suspend|dormant/i, 'wallet_blocked'],
  [
    /not registered|not found|no wallet|not exist|unknown subscriber|invalid.*(number|msisdn|phone)/i,
    'no_wallet',
  ],
  [/declin|reject|cancel|not approved|denied/i, 'declined'],
  [/unavailable|network|connect|system|switch|downtime/i, 'network_error'],
]

const ofCards: Fits = [
  ...always,
  [/expired.*card|card.*expired/i, 'card_expired'],
  [/cvv|cvc|security code/i, 'wrong_cvv'],
  [/authenticat|3.?d.?s(ecure)?\b|otp|token/i, 'not_authenticated'],
  [/cancel|abandon|closed/i, 'not_completed'],
  [/time.?out|timed out|in time/i, 'no_answer'],
  [/declin|honou?r|denied|restricted|stolen|lost|pick.?up|fraud/i, 'card_declined'],
  [/unavailable|inoperative|network|connect|system|switch|downtime/i, 'network_error'],
]

export const reasonOf = (sentence: string, isCard: boolean): Reason =>
  (isCard ? ofCards : ofWallets).find(([fits]) => fits.test(sentence))?.[1] ?? 'refused'

// It took nothing, and would not, however often this order was sent: so no earlier sending can have been taken either.
// What depends on the hour or on the account's settings is not here.
const refusals: Fits = [
  [/invalid character in transaction reference/i, 'refused'],
  [/amount must be/i, 'refused'],
  [/invalid amount/i, 'refused'],
  [/email address is required/i, 'refused'],
  [/invalid email/i, 'refused'],
  [/currency not supported/i, 'account_trouble'],
  [/invalid.*(mobile|phone).*(number|format)/i, 'no_wallet'],
]

export const refusalOf = (sentence: string): Reason | undefined =>
  refusals.find(([fits]) => fits.test(sentence))?.[1]
