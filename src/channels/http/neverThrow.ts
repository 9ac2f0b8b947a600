import type { Reply } from '../../core/channel.ts'

const deadlineMs = 5000

// The deadline is a timer of ours and reaches the body, too: fetch can lose sight of its signal once the headers are
// there, and would then read a slow answer for ever.
export async function neverThrow(work: (signal: AbortSignal) => Promise<Reply>): Promise<Reply> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new Error('no answer in time')), deadlineMs)
  try {
    return await work(deadline.signal)
  } catch (error) {
    const { message, cause } = error as Error
    return { state: 'unknown', words: cause instanceof Error ? `${message}: ${cause.message}` : message }
  } finally {
    clearTimeout(timer)
  }
}
