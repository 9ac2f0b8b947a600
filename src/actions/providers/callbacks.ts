import { setTimeout as sleep } from 'node:timers/promises'
import type { CallbackQueue } from '../../runtime/callbackBatcher.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { promptRefund } from '../../store/refunds/dueRefunds.ts'

type CallbackDeps = Pick<Runtime, 'db' | 'callbacks' | 'clock' | 'wake'>

// `nothing_to_ask`: the attempt is paid. `unknown`: there is no such attempt.
export type CallbackResult = 'prompted' | 'nothing_to_ask' | 'unknown'

export const isAttemptId = (text: string) => /^[0-9a-z]{36}$/.test(text)

// A provider called the callback address of one attempt or refund. Its content is not trusted: it only causes a poll. False if there
// is no such attempt, or it is paid.
export const promptPoll = async (deps: CallbackDeps, attempt_id: string): Promise<boolean> =>
  (await handleCallback(deps, attempt_id)) === 'prompted'

async function handleCallback(
  { db, callbacks, clock, wake }: CallbackDeps,
  attempt_id: string,
  queue?: CallbackQueue,
): Promise<CallbackResult> {
  if (!isAttemptId(attempt_id)) return 'unknown'
  const merchant_id = merchantOfToken(attempt_id)
  const recorded = await callbacks.record({ merchant_id, attempt_id, now: clock() }, queue)
  if (recorded === undefined) {
    const isRefund = await promptRefund(db, { merchant_id, refund_reference: attempt_id }, clock())
    if (isRefund) wake('pollers')
    return isRefund ? 'prompted' : 'unknown'
  }
  if (recorded === 'due') wake('pollers')
  return recorded === 'paid' ? 'nothing_to_ask' : 'prompted'
}

// Callbacks for one attempt cause one poll per gap. Otherwise a client that has the id of an attempt could cause polls
// without end, until the provider limits the whole account.
const gapMs = 1000

type Recent = { untilMs: number; next?: Promise<CallbackResult> }
type AttemptCallbacks = {
  receive(attempt_id: string, queue: CallbackQueue): Promise<CallbackResult>
}

// Callbacks at the addresses of attempts. The first one prompts a poll at once; those that arrive within the gap after it
// share the next prompt, at the end of the gap. Each is answered after a prompt that was stored after its arrival, so that
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
    recent.delete(attempt_id) // this prompt does not cover a callback that arrives from now on
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
