/** What an error has besides its message. */
export type ErrorDetails = {
  code: string
  field?: string | undefined
  requestId?: string | undefined
  cause?: unknown
}

/**
 * The base of every error of this package. `code` is for programs and never changes its meaning; `message` is for people
 * and says what to do.
 *
 * @example
 * try {
 *   await tollgate.initiate(order)
 * } catch (error) {
 *   if (error instanceof TollgateError) console.error(error.code, error.field, error.requestId, error.message)
 * }
 */
export class TollgateError extends Error {
  override readonly name: string = 'TollgateError'
  /** Such as `GW-012`, `outcome_unknown` or `signature_mismatch`. */
  readonly code: string
  /** The field that is wrong, if there is one. */
  readonly field?: string
  /** The gateway's id of the request. Its operator finds the request by it. */
  readonly requestId?: string

  constructor(message: string, { code, field, requestId, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    if (field !== undefined) this.field = field
    if (requestId !== undefined) this.requestId = requestId
  }
}

/**
 * A value that you passed is not valid. Nothing was sent. The code is `invalid_input`, or `currency_unknown` if this
 * version of the package does not know the decimals of a currency.
 *
 * @example
 * await tollgate.initiate({ invoiceId: 'AMA-1042', totalMinor: 25.5 }) // InvalidInputError, field totalMinor
 */
export class InvalidInputError extends TollgateError {
  override readonly name = 'InvalidInputError'

  constructor(field: string, message: string, code: 'invalid_input' | 'currency_unknown' = 'invalid_input') {
    super(`${field}: ${message}`, { code, field })
  }
}

/**
 * What the gateway shows about a wrong signature, in test mode only.
 *
 * @example
 * if (error instanceof RefusedError && error.hint) console.error(error.hint.hashedString, error.hint.likelyMistake)
 */
export type SignatureHint = {
  /** The text that the gateway hashed. Compare it with `text` of `sign`. */
  hashedString: string
  /** The likely mistake. */
  likelyMistake: string
}

/**
 * The gateway refused the request, and repeating it does not help. `code` is the gateway's, such as `GW-012`, or
 * `http_404` if the answer is not the gateway's. `field` has the gateway's name of the field, such as `success_url`.
 *
 * @example
 * if (error instanceof RefusedError && error.httpStatus === 404) console.log('There is no such payment.')
 */
export class RefusedError extends TollgateError {
  override readonly name = 'RefusedError'
  /** The HTTP status that the answer has, or would have without the setting `errors_as_200`. */
  readonly httpStatus: number
  /** For a wrong signature in test mode. */
  readonly hint?: SignatureHint
  /** What may still be refunded, in major units, if a refund is more than that (GW-020, GW-026). */
  readonly left?: number

  constructor(
    message: string,
    details: ErrorDetails & {
      httpStatus: number
      hint?: SignatureHint | undefined
      left?: number | undefined
    },
  ) {
    super(message, details)
    this.httpStatus = details.httpStatus
    if (details.hint) this.hint = details.hint
    if (details.left !== undefined) this.left = details.left
  }
}

/** What is known after the last try. */
export type UnavailableDetails = {
  code?: 'gateway_unavailable' | 'aborted' | 'outcome_unknown'
  httpStatus?: number | undefined
  retryAfterMs?: number | undefined
  requestId?: string | undefined
  cause?: unknown
}

/**
 * The gateway gave no usable answer after all tries: a timeout, a broken connection, HTTP 429 or 5xx. The code is
 * `gateway_unavailable`, or `aborted` if your signal ended the call. Ask again later. It says nothing about the payment.
 *
 * @example
 * if (error instanceof UnavailableError) await askAgainIn(error.retryAfterMs ?? 5000)
 */
export class UnavailableError extends TollgateError {
  override readonly name: string = 'UnavailableError'
  /** The HTTP status of the last answer, if there was one. */
  readonly httpStatus?: number
  /** How long the gateway asked to wait, if it did. */
  readonly retryAfterMs?: number

  constructor(message: string, { code = 'gateway_unavailable', ...details }: UnavailableDetails = {}) {
    super(message, { code, requestId: details.requestId, cause: details.cause })
    if (details.httpStatus !== undefined) this.httpStatus = details.httpStatus
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
  }
}

/**
 * `initiate` or `refund` got no usable answer. The payment or refund may be stored or not: this is not a failure. Call
 * again with the same values. It finds what is stored or stores it, and never makes a second one. The code is
 * `outcome_unknown`.
 *
 * @example
 * if (error instanceof OutcomeUnknownError) await queue.add('initiate', order) // the same order, the same invoiceId
 */
export class OutcomeUnknownError extends UnavailableError {
  override readonly name = 'OutcomeUnknownError'

  constructor(invoiceId: string, last: UnavailableError, refundId?: string) {
    const { httpStatus, retryAfterMs, requestId } = last
    super(
      refundId === undefined
        ? `The outcome for invoice ${invoiceId} is unknown: the payment may be stored or not. ` +
            `Call initiate again with the same order: it is safe and never creates a second payment. (${last.message})`
        : `The outcome of refund ${refundId} is unknown: it may be stored or not. ` +
            `Call refund again with the same values: it is safe and never refunds twice. (${last.message})`,
      { code: 'outcome_unknown', httpStatus, retryAfterMs, requestId, cause: last },
    )
  }
}

/**
 * A notification is not signed by the gateway, or too old. Answer 401 and do nothing else. The code is
 * `signature_missing`, `signature_mismatch` or `timestamp_out_of_tolerance`.
 *
 * @example
 * if (error instanceof SignatureError) return new Response(null, { status: 401 })
 */
export class SignatureError extends TollgateError {
  override readonly name = 'SignatureError'

  constructor(
    code: 'signature_missing' | 'signature_mismatch' | 'timestamp_out_of_tolerance',
    message: string,
    field: string,
  ) {
    super(message, { code, field })
  }
}

/** Why a notification cannot be read. */
export type NotificationFault =
  | 'notification_malformed'
  | 'notification_of_refund'
  | 'body_not_raw'
  | 'body_already_read'
  | 'body_too_large'
  | 'method_not_allowed'

/**
 * A notification cannot be read. `body_not_raw` and `body_already_read` are mistakes of the program that receives it:
 * the signature covers the bytes as received, so a body parser must not run first.
 *
 * @example
 * if (error instanceof NotificationError && error.code === 'body_already_read') console.error(error.message)
 */
export class NotificationError extends TollgateError {
  override readonly name = 'NotificationError'

  constructor(code: NotificationFault, message: string, field?: string) {
    super(message, { code, field })
  }
}

/** What differs between a payment and your order. */
export type MismatchFault =
  | 'amount_mismatch'
  | 'currency_mismatch'
  | 'invoice_mismatch'
  | 'reference_mismatch'

/**
 * The payment at the gateway is not the one that your order expects. `onStatus` was not called. Do not deliver; find
 * out why they differ.
 *
 * @example
 * onError: error => error instanceof MismatchError && alertSomeone(error)
 */
export class MismatchError extends TollgateError {
  override readonly name = 'MismatchError'

  constructor(code: MismatchFault, field: string, expected: string, actual: string) {
    super(`${field}: the order has ${expected}, the payment has ${actual}. Do not deliver; find out why.`, {
      code,
      field,
    })
  }
}

/** Why a verified notification was not completed. */
export type HandlerFault = 'order_not_found' | 'handler_failed' | 'handler_busy' | 'store_failed'

/**
 * A notification is genuine, but your side has not completed it: `findOrder` found nothing, `onStatus` threw, another
 * call for the same invoice and status is running, or the store failed. The gateway delivers it again. `cause` has what
 * your function threw.
 *
 * @example
 * onError: error => error instanceof HandlerError && console.error(error.code, error.cause)
 */
export class HandlerError extends TollgateError {
  override readonly name = 'HandlerError'

  constructor(code: HandlerFault, message: string, cause?: unknown) {
    super(message, { code, cause })
  }
}
