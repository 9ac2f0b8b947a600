import type { Reason } from '../../core/provider/reason.ts'

// MTN's codes for a refusal. Behind the status FAILED each of them is final. `refusesOrder`: as the answer to the order
// itself, whatever the HTTP status, the code means that MTN did not take it; the other codes prove nothing there.
type Code = { reason: Reason; refusesOrder?: true }

const codes = new Map<string, Code>([
  // The commonest production decline: too little money or a wallet limit, without saying which.
  ['LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED', { reason: 'insufficient_funds', refusesOrder: true }],
  ['NOT_ENOUGH_FUNDS', { reason: 'insufficient_funds', refusesOrder: true }],
  ['PAYER_LIMIT_REACHED', { reason: 'limit_reached', refusesOrder: true }],
  ['PAYER_NOT_FOUND', { reason: 'no_wallet', refusesOrder: true }],
  ['SENDER_ACCOUNT_NOT_ACTIVE', { reason: 'wallet_blocked', refusesOrder: true }],
  ['APPROVAL_REJECTED', { reason: 'declined' }],
  ['PAYMENT_NOT_APPROVED', { reason: 'declined' }],
  ['EXPIRED', { reason: 'no_answer' }],
  ['COULD_NOT_PERFORM_TRANSACTION', { reason: 'no_answer' }], // MTN's error page: not approved within five minutes
  ['PAYEE_NOT_FOUND', { reason: 'account_trouble', refusesOrder: true }],
  ['PAYEE_NOT_ALLOWED_TO_RECEIVE', { reason: 'account_trouble', refusesOrder: true }],
  ['PAYEE_LIMIT_REACHED', { reason: 'account_trouble', refusesOrder: true }],
  ['NOT_ALLOWED', { reason: 'account_trouble', refusesOrder: true }],
  ['INVALID_CURRENCY', { reason: 'account_trouble', refusesOrder: true }],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', { reason: 'account_trouble', refusesOrder: true }],
  ['INVALID_CALLBACK_URL_HOST', { reason: 'account_trouble', refusesOrder: true }],
  ['INTERNAL_PROCESSING_ERROR', { reason: 'provider_error' }], // often no money in the wallet; it does not say
  ['SERVICE_UNAVAILABLE', { reason: 'provider_error' }],
  ['TRANSACTION_CANCELED', { reason: 'refused' }], // by whom is not documented
  ['TRANSACTION_NOT_FOUND', { reason: 'refused' }],
  ['VALIDATION_ERROR', { reason: 'refused', refusesOrder: true }],
])

export const knownCode = (code: string | undefined): Code | undefined => codes.get(code ?? '')

// The sandbox says the bare word, the published schema an object with a code. Five digits in a row could be part of a
// phone number, so what has them is not taken for a code.
export function mtnCodeOf(said: unknown): string | undefined {
  const code = typeof said === 'object' && said !== null ? (said as { code?: unknown }).code : said
  return typeof code === 'string' && /^(?!.*\d{5})[A-Z][A-Z0-9_]{1,99}$/.test(code) ? code : undefined
}
