import type { Reason } from '../../core/channel/reason.ts'

// MTN's words for a no. They count behind a status that says FAILED, whatever they are; one that is not here is a no
// without a reason that we know.
const reasonsOf = new Map<string, Reason>([
  ['NOT_ENOUGH_FUNDS', 'insufficient_funds'],
  ['PAYER_LIMIT_REACHED', 'limit_reached'],
  ['PAYER_NOT_FOUND', 'no_wallet'],
  ['SENDER_ACCOUNT_NOT_ACTIVE', 'wallet_blocked'],
  ['APPROVAL_REJECTED', 'declined'],
  ['PAYMENT_NOT_APPROVED', 'declined'],
  ['EXPIRED', 'no_answer'],
  ['COULD_NOT_PERFORM_TRANSACTION', 'no_answer'], // MTN's page of errors: not approved within five minutes
  ['PAYEE_NOT_FOUND', 'account_trouble'],
  ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'account_trouble'],
  ['PAYEE_LIMIT_REACHED', 'account_trouble'],
  ['NOT_ALLOWED', 'account_trouble'],
  ['INVALID_CURRENCY', 'account_trouble'],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', 'account_trouble'],
  ['INVALID_CALLBACK_URL_HOST', 'account_trouble'],
  ['INTERNAL_PROCESSING_ERROR', 'provider_error'], // often no money in the wallet; it does not say
  ['SERVICE_UNAVAILABLE', 'provider_error'],
  ['TRANSACTION_CANCELED', 'refused'], // by whom is not said
  ['TRANSACTION_NOT_FOUND', 'refused'],
  ['VALIDATION_ERROR', 'refused'],
])

// To an order itself, whatever the HTTP status: MTN did not look at it further, so it took nothing. All other codes tell
// nothing for certain there.
const refusalsOf = new Map<string, Reason>([
  ['INVALID_CURRENCY', 'account_trouble'],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', 'account_trouble'],
  ['INVALID_CALLBACK_URL_HOST', 'account_trouble'],
  ['VALIDATION_ERROR', 'refused'],
])

export const reasonOf = (said: unknown): Reason | undefined => reasonsOf.get(codeOf(said) ?? '')

export const refusalOf = (code: string | undefined): Reason | undefined => refusalsOf.get(code ?? '')

// The sandbox says the bare word, the published schema an object with a code. A code is of capital letters alone, so it
// has nothing that is private.
export function codeOf(said: unknown): string | undefined {
  const code = typeof said === 'object' && said !== null ? (said as { code?: unknown }).code : said
  return typeof code === 'string' && /^[A-Z][A-Z_]{1,50}$/.test(code) ? code : undefined
}
