import { operatorUrl } from '../core/urlTrust.ts'
import { createOperatorClient } from '../net/outbound.ts'

const maxUnsent = 5000 // scheduled or in flight; more are dropped, as by real providers
const deadlineMs = 5000

type CallbackTarget = { reference: string; callback_url: string }
type TimedCallback = { at: Date; answer: object }

export type Callbacks = ReturnType<typeof createCallbacks>

// Sends callbacks to the gateway, without a guarantee: scheduled callbacks are lost with the process. A poll still returns
// the true state.
export function createCallbacks(clock: () => Date) {
  const client = createOperatorClient({})
  const pendingWaits = new Set<() => void>()
  const scheduled = new Map<string, Set<NodeJS.Timeout>>() // by reference
  let unsent = 0
  let isStopped = false

  // No signature, no retry, and the answer is ignored. Only the gateway itself has the key of this provider, so the
  // address is the gateway's own.
  const post = (url: string, body: string) =>
    client.send({
      method: 'POST',
      url: operatorUrl(url),
      headers: { 'content-type': 'application/json' },
      body,
      deadlineMs,
    })

  // New callbacks of a charge or a refund replace the scheduled ones: a decided prompt does not expire.
  function schedule({ reference, callback_url }: CallbackTarget, callbacks: readonly TimedCallback[]) {
    cancel(reference)
    const timers = new Set<NodeJS.Timeout>()
    for (const { at, answer } of callbacks) {
      if (isStopped || unsent >= maxUnsent) return
      unsent++
      const timer = setTimeout(() => {
        timers.delete(timer)
        if (timers.size === 0 && scheduled.get(reference) === timers) scheduled.delete(reference)
        void post(callback_url, JSON.stringify(answer)).finally(() => unsent--)
      }, at.getTime() - clock().getTime()).unref()
      timers.add(timer)
      scheduled.set(reference, timers)
    }
  }

  function cancel(reference: string) {
    for (const timer of scheduled.get(reference) ?? []) {
      clearTimeout(timer)
      unsent--
    }
    scheduled.delete(reference)
  }

  // Ends early when the provider stops.
  function wait(ms: number) {
    return new Promise<void>(done => {
      const end = () => (clearTimeout(timer), pendingWaits.delete(end), done())
      const timer = setTimeout(end, isStopped ? 0 : ms)
      pendingWaits.add(end)
    })
  }

  function stop() {
    isStopped = true
    for (const reference of scheduled.keys()) cancel(reference)
    for (const end of pendingWaits) end()
  }

  return { schedule, wait, stop }
}
