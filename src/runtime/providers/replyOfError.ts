import { CredentialsRefused, NotSent } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'

const maxWords = 200

// The reply to an order or a refund if the provider module threw an error, or the deadline ended the call.
export function replyOfError(error: unknown) {
  const errors = error instanceof Error ? [error, error.cause] : []
  const isRefusal = errors.some(one => one instanceof CredentialsRefused)
  const state: 'not_sent' | 'unknown' = error instanceof NotSent ? 'not_sent' : 'unknown'
  return { state, words: cleanError(error, maxWords), ...(isRefusal && { isRefusal }) }
}
