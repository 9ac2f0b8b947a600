import type { HttpOutcome } from '../core/notification/delivery.ts'

export type Failure = NonNullable<HttpOutcome['failure']>

// Why no answer came, thrown below and turned into an Answer in one place.
export class Trouble extends Error {
  readonly failure: Failure

  constructor(failure: Failure, words: string) {
    super(words)
    this.failure = failure
  }
}

const wordsOf: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'our own address cannot be used for it',
  ETIMEDOUT: 'the host did not answer',
}

const codeOf = (error: Error) => ('code' in error && typeof error.code === 'string' ? error.code : '')

// The library of TLS tells the reason apart; its message has numbers of its own memory in it.
const reasonOf = (error: Error) =>
  'reason' in error && typeof error.reason === 'string' ? error.reason : error.message

export const words = (error: Error) => wordsOf[codeOf(error)] ?? reasonOf(error)

// `heard`: a byte of an answer had come. Without an error the other side has closed in an orderly way.
export function troubleOf(error: Error | undefined, heard: boolean): Trouble {
  if (error instanceof Trouble) return error
  // A server that wants a certificate of ours, or no longer likes the connection, says so after the handshake.
  if (error && /^ERR_(SSL|TLS)_/.test(codeOf(error))) return new Trouble('tls', words(error))
  if (heard) return new Trouble('bad_answer', error ? words(error) : 'the answer broke off')
  return new Trouble('no_connection', error ? words(error) : 'the connection was closed without an answer')
}
