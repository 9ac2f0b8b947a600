import type { Code } from '../../core/interface/refusal.ts'

// Every code that an error can carry. Typed by the refusals' own list: a new code does not compile undescribed.
const meanings: Record<Code, string> = {
  'GW-001': 'merchant_key is missing or empty',
  'GW-002': 'invoice_id is missing or empty',
  'GW-003': 'total is missing or empty',
  'GW-005': 'the invoice_id is taken by other details (409), or no payment has it (404)',
  'GW-008': 'no merchant has this merchant_key',
  'GW-009': 'the merchant is deactivated',
  'GW-010': 'secure_hash, or the signature of a question to the feed, is missing or does not match',
  'GW-012': 'a field, or the body as a whole, cannot be read or is not allowed',
  'GW-013': 'the body or the header is too large',
  'GW-014': 'the body is of a kind that we do not read',
  'GW-050': 'the database is unavailable, or we are too busy to read the body',
  'GW-060': 'too many requests',
}

// What is no matter of the interface has a word instead.
export const codes = [...Object.keys(meanings), 'internal', 'not_found', 'method_not_allowed', 'busy']

export const meaningOf = (code: Code) => meanings[code]
