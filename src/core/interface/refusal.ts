import type { Mode } from '../mode.ts'
import type { Warning } from './warnings.ts'

// A client error, or a temporary failure: a code of the public list, a sentence, and the field. `web/http/errors.ts`
// turns it into HTTP. Any other thrown error is a bug.
export const codes = [
  'GW-001',
  'GW-002',
  'GW-003',
  'GW-005',
  'GW-008',
  'GW-009',
  'GW-010',
  'GW-012',
  'GW-013',
  'GW-014',
  'GW-015',
  'GW-020',
  'GW-021',
  'GW-022',
  'GW-023',
  'GW-024',
  'GW-025',
  'GW-026',
  'GW-027',
  'GW-028',
  'GW-050',
  'GW-060',
] as const
export type Code = (typeof codes)[number]

// For developers, in test mode only. `mistake` names a mistake that gives exactly the hash that was sent, and
// `your_string` is the text that was hashed by it.
export type SignatureHint = {
  hashed_string: string
  likely_mistake: string
  mistake?: string
  your_string?: string
}

// A field of a repeated request that differs from the stored one. The values are there in test mode only, personal ones
// masked. Null means absent.
export type FieldDifference = { field: string; stored?: string | null; sent?: string | null }

export class Refusal extends Error {
  readonly http: number
  readonly code: Code
  readonly field?: string
  hint?: SignatureHint
  differences?: readonly FieldDifference[]
  left?: number // what may still be refunded, in major units
  warnings?: readonly Warning[]
  retryAfterSeconds?: number
  as200 = false // for clients that cannot read the body of a 4xx
  merchant?: { merchant_id: string; mode: Mode } // of the merchant_key, if it was looked up; for the request log
  isBodyUnread = false // the rest of the body is not read: the connection closes with the answer

  constructor(http: number, code: Code, message: string, field?: string, details: RefusalDetails = {}) {
    super(message)
    this.http = http
    this.code = code
    this.field = field
    Object.assign(this, details)
  }
}

type RefusalDetails = Partial<Pick<Refusal, 'retryAfterSeconds' | 'isBodyUnread' | 'cause'>>

const missingCodes = { merchant_key: 'GW-001', invoice_id: 'GW-002', total: 'GW-003' } as const

export const missing = (field: keyof typeof missingCodes) =>
  new Refusal(400, missingCodes[field], `${field}: is missing or empty`, field)

export const malformed = (field: string | undefined, message: string) =>
  new Refusal(400, 'GW-012', field ? `${field}: ${message}` : message, field)

export const unknownMerchant = () =>
  new Refusal(401, 'GW-008', 'merchant_key: no merchant has this key', 'merchant_key')

export const wrongHash = (message: string) =>
  new Refusal(401, 'GW-010', `secure_hash: ${message}`, 'secure_hash')

export const wrongSignature = (header: string, message: string) =>
  new Refusal(401, 'GW-010', `${header}: ${message}`, header)

export const deactivated = () =>
  new Refusal(403, 'GW-009', 'merchant_key: this merchant is deactivated', 'merchant_key')

// The differences are known to a client that has signed the request.
export const testKeyOnly = () =>
  new Refusal(
    403,
    'GW-015',
    'merchant_key: is a live key; this address changes test payments only, so use your test key (tk_)',
    'merchant_key',
  )

export function conflict(differences: readonly FieldDifference[] = []) {
  const fields = differences.map(({ field }) => field).join(', ')
  const message = `invoice_id: is already used by a payment with other details${fields && ` (different: ${fields})`}`
  const refusal = new Refusal(409, 'GW-005', message, 'invoice_id')
  if (differences.length > 0) refusal.differences = differences
  return refusal
}

export function conflictingRefund(differences: readonly FieldDifference[]) {
  const fields = differences.map(({ field }) => field).join(', ')
  const message = `refund_id: is already used by a refund with other details${fields && ` (different: ${fields})`}`
  const refusal = new Refusal(409, 'GW-027', message, 'refund_id')
  if (differences.length > 0) refusal.differences = differences
  return refusal
}

export const unknownRefund = () =>
  new Refusal(404, 'GW-028', 'refund_id: no refund of this merchant has it', 'refund_id')

export const unknownInvoice = () =>
  new Refusal(404, 'GW-005', 'invoice_id: no payment of this merchant has it', 'invoice_id')

export const tooManyRequests = (retryAfterSeconds: number) =>
  new Refusal(429, 'GW-060', 'Too many requests. Wait for Retry-After seconds and repeat.', undefined, {
    retryAfterSeconds,
  })

export const tooManyAtOnce = () =>
  new Refusal(
    429,
    'GW-060',
    'Too many requests are unanswered on this connection. Wait for answers before you send more.',
    undefined,
    { retryAfterSeconds: 1 },
  )

const unread = { isBodyUnread: true }

export const bodyTooLarge = (maxBytes: number) =>
  new Refusal(413, 'GW-013', `The body is larger than ${maxBytes / 1024} KiB.`, undefined, unread)

export const bodyInPieces = (maxPieces: number) =>
  new Refusal(400, 'GW-012', `The body arrives in more than ${maxPieces} pieces.`, undefined, unread)

export const tooSlow = () => new Refusal(408, 'GW-012', 'The body arrived too slowly.', undefined, unread)

// The memory for incomplete bodies is used up: by the client's own network (429), or by all clients together (503).
export class TooBusy extends Refusal {
  constructor(http: 429 | 503) {
    const message = `Too busy: too many unfinished requests ${http === 429 ? 'of your network ' : ''}are waiting.`
    super(
      http,
      http === 429 ? 'GW-060' : 'GW-050',
      `${message} Repeat the same request: it never creates a second payment.`,
      undefined,
      { retryAfterSeconds: 1, isBodyUnread: true },
    )
  }
}

const repairSeconds = 60

// A stored setting of this merchant cannot be read. What it protects stays refused until the operator has fixed it.
export const unreadableSetting = (what: string, cause: unknown) =>
  new Refusal(
    503,
    'GW-050',
    `This merchant cannot be served until the operator has fixed ${what}. Repeat the same request later.`,
    undefined,
    { retryAfterSeconds: repairSeconds, cause },
  )

// The database is unavailable, or too many requests wait for it. Repeating the request is always safe.
export class Unavailable extends Refusal {
  constructor(
    cause: unknown,
    message = 'The database is unavailable. Repeat the same request: it never creates a second payment.',
  ) {
    super(503, 'GW-050', message, undefined, { retryAfterSeconds: 1, cause })
  }
}

// The database is a copy, or its payments were moved to another one. Nothing was stored, and the operator has to act.
export class NotOriginal extends Refusal {
  constructor(message: string) {
    super(503, 'GW-050', message, undefined, { retryAfterSeconds: repairSeconds })
  }
}

// A sharded database has lost the worker that has the rows of this merchant. Those of other merchants may be available.
export class ShardUnavailable extends Unavailable {}

// Another transaction holds the lock of a row for too long. Other rows are available.
export class Locked extends Unavailable {
  constructor(cause: unknown) {
    super(cause, 'Another request is changing this payment. Repeat the same request.')
  }
}
