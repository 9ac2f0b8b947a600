import type { Answer } from '../core/delivery.ts'

export type Failure = NonNullable<Answer['failure']>

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
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
}

const codeOf = (error: Error) => ('code' in error && typeof error.code === 'string' ? error.code : '')

export const words = (error: Error) => wordsOf[codeOf(error)] ?? error.message

// `heard`: a byte of an answer had come.
export function troubleOf(error: Error, heard: boolean): Trouble {
  if (error instanceof Trouble) return error
  // A server that wants a certificate of ours, or no longer likes the connection, says so after the handshake.
  if (/^ERR_(SSL|TLS)_/.test(codeOf(error))) return new Trouble('tls', words(error))
  if (heard) return new Trouble('bad_answer', isClosing(error) ? 'the answer broke off' : words(error))
  return new Trouble(
    'no_connection',
    isClosing(error) ? 'the connection was closed without an answer' : words(error),
  )
}

const isClosing = (error: Error) => /^(other side )?closed$/.test(error.message)
