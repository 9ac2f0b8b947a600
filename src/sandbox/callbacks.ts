import type { Charge } from '../store/sandboxCharges.ts'
import { callbacksOf } from './charge.ts'

const maxWaiting = 5000 // callbacks that wait or are on their way; above that they are not sent, as in real life
const deadlineMs = 5000

export type Callbacks = ReturnType<typeof createCallbacks>

// Tells the gateway by itself, without a promise: what waits here is lost with the process, and whoever asks still
// gets the truth.
export function createCallbacks(clock: () => Date, pace: number) {
  const hanging = new Set<() => void>()
  const planned = new Map<string, Set<NodeJS.Timeout>>() // by reference
  let waiting = 0
  let isStopped = false

  // What was planned for a charge gives way to what is planned now: a decided prompt does not expire.
  function plan(charge: Charge) {
    forget(charge.reference)
    const timers = new Set<NodeJS.Timeout>()
    for (const { at, answer } of callbacksOf(charge, pace)) {
      if (isStopped || waiting >= maxWaiting) return
      waiting++
      const timer = setTimeout(() => {
        timers.delete(timer)
        if (timers.size === 0 && planned.get(charge.reference) === timers) planned.delete(charge.reference)
        void post(charge.callback_url, JSON.stringify(answer)).finally(() => waiting--)
      }, at.getTime() - clock().getTime()).unref()
      timers.add(timer)
      planned.set(charge.reference, timers)
    }
  }

  function forget(reference: string) {
    for (const timer of planned.get(reference) ?? []) {
      clearTimeout(timer)
      waiting--
    }
    planned.delete(reference)
  }

  // Ends early when the provider stops.
  function wait(ms: number) {
    return new Promise<void>(done => {
      const end = () => (clearTimeout(timer), hanging.delete(end), done())
      const timer = setTimeout(end, isStopped ? 0 : ms)
      hanging.add(end)
    })
  }

  function stop() {
    isStopped = true
    for (const reference of planned.keys()) forget(reference)
    for (const end of hanging) end()
  }

  return { plan, wait, stop }
}

// No signature and no second try. Nobody reads the answer.
async function post(url: string, body: string) {
  const headers = { 'content-type': 'application/json' }
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), deadlineMs).unref()
  try {
    const init: RequestInit = { method: 'POST', body, headers, redirect: 'error', signal: deadline.signal }
    const response = await fetch(url, init)
    await response.body?.cancel()
  } catch {
    // the other side is not there: it will ask
  } finally {
    clearTimeout(timer)
  }
}
