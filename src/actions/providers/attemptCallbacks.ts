import { setTimeout as sleep } from 'node:timers/promises'
import type { PaymentDeps } from '../payments/deps.ts'
import { handleCallback, type CallbackResult, type CallbackQueue } from './callbacks.ts'

// Callbacks for one attempt lead to one status question per gap. Whoever knows the id of an attempt could otherwise make
// us ask its provider without end, until the provider limits the whole account.
const gapMs = 1000

type CallbackDeps = Pick<PaymentDeps, 'db' | 'clock' | 'wake'>
type Recent = { untilMs: number; next?: Promise<CallbackResult> }
export type AttemptCallbacks = {
  receive(attempt_id: string, queue: CallbackQueue): Promise<CallbackResult>
}

// Callbacks at the addresses of attempts. The first one prompts a question at once; those that come within the gap after
// it share the next prompt, at the end of the gap. Each is answered after a prompt that was stored after it came, so that
// none is refused and none is lost.
export function createAttemptCallbacks(
  deps: CallbackDeps,
  monotonicMs = () => performance.now(),
): AttemptCallbacks {
  const recent = new Map<string, Recent>() // in the order of `untilMs`

  async function prompt(attempt_id: string, queue: CallbackQueue): Promise<CallbackResult> {
    const result = await handleCallback(deps, attempt_id, queue)
    if (result === 'prompted') remember(attempt_id)
    return result
  }

  function remember(attempt_id: string) {
    const now = monotonicMs()
    recent.delete(attempt_id) // and set again, to keep the order
    recent.set(attempt_id, { untilMs: now + gapMs })
    for (const [id, { untilMs, next }] of recent) {
      if (untilMs > now) break
      if (!next) recent.delete(id)
    }
  }

  async function promptAfter(attempt_id: string, queue: CallbackQueue, waitMs: number) {
    await sleep(waitMs)
    recent.delete(attempt_id) // a callback that comes from now on is not covered by this prompt
    return prompt(attempt_id, queue)
  }

  return {
    async receive(attempt_id, queue) {
      const last = recent.get(attempt_id)
      const waitMs = last ? last.untilMs - monotonicMs() : 0
      if (!last || waitMs <= 0) return prompt(attempt_id, queue)
      last.next ??= promptAfter(attempt_id, queue, waitMs)
      return last.next
    },
  }
}
