import type { HttpOutcome } from '../core/notification/delivery.ts'

export type RequestFailure = NonNullable<HttpOutcome['failure']>

// Why a request got no response. Thrown inside src/net; `Exchange` turns it into a result.
export class NetworkError extends Error {
  readonly failure: RequestFailure
  readonly code: string // of the operating system or of TLS, such as ECONNREFUSED; empty if there is none

  constructor(failure: RequestFailure, message: string, code = '') {
    super(message)
    this.failure = failure
    this.code = code
  }
}

const sentences: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the source address cannot be used for it',
  ETIMEDOUT: 'the host did not answer',
}

export const errorCode = (error: Error) =>
  'code' in error && typeof error.code === 'string' ? error.code : ''

// The message of a TLS error contains memory addresses; its reason does not. If several addresses of a name were tried,
// each error has its own message.
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message
}

export const sentenceOf = (error: Error) => sentences[errorCode(error)] ?? reasonOf(error)

// `hasAnswerByte`: a byte of the response was received. Without an error the peer closed the connection in order.
export function toNetworkError(error: Error | undefined, hasAnswerByte: boolean): NetworkError {
  if (error instanceof NetworkError) return error
  const code = error ? errorCode(error) : ''
  // A server that requires a client certificate sends its alert after the handshake.
  if (error && /^ERR_(SSL|TLS)_/.test(code)) return new NetworkError('tls', sentenceOf(error), code)
  if (hasAnswerByte)
    return new NetworkError('bad_answer', error ? sentenceOf(error) : 'the answer broke off', code)
  const message = error ? sentenceOf(error) : 'the connection was closed without an answer'
  return new NetworkError(code === 'ENOTFOUND' ? 'name_not_found' : 'no_connection', message, code)
}
