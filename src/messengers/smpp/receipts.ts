import type { MessengerTools, Receipt } from '../../core/message/messenger.ts'
import type { RawReceipt } from './receipt.ts'
import { openRefs } from './refs.ts'

const maxWaiting = 5000
const maxJoined = 5000

type Joined = { first: string; missing: Set<string> }

// A receipt can overtake the answer to its own submit, so it waits for the submits that are open, and a moment more for
// whoever saves their answers. A message of several parts is delivered with its last part, and lost with any of them;
// it has the name of its first.
export function openReceipts(
  { receive, warn }: MessengerTools,
  pauseMs: number,
  openSubmits: () => Promise<unknown>,
) {
  const refs = openRefs()
  const joined = new Map<string, Joined>() // by the id of each part
  const waiting = new Set<() => void>()

  // On a timer nobody catches what the house throws.
  function tell(receipt: Receipt) {
    try {
      receive(receipt)
    } catch (error) {
      warn(`SMPP: a receipt could not be noted: ${(error as Error).message}`)
    }
  }

  function add(ids: readonly string[]) {
    for (const id of ids) refs.add(id)
    const [first = '', ...others] = ids
    if (others.length === 0) return
    const one = { first, missing: new Set(ids) }
    for (const id of ids) joined.set(id, one)
    for (const id of joined.keys()) {
      if (joined.size <= maxJoined) return
      joined.delete(id)
    }
  }

  function pass({ id, state, words }: RawReceipt) {
    const provider_ref = refs.find(id)
    const whole = joined.get(provider_ref)
    if (!whole) return tell({ provider_ref, state, words })
    joined.delete(provider_ref)
    whole.missing.delete(provider_ref)
    if (state === 'lost') for (const part of whole.missing) joined.delete(part)
    if (state === 'lost' || whole.missing.size === 0) tell({ provider_ref: whole.first, state, words })
  }

  function take(receipt: RawReceipt) {
    const go = () => {
      if (waiting.delete(go)) pass(receipt)
    }
    waiting.add(go)
    if (waiting.size > maxWaiting) go()
    else void openSubmits().then(() => setTimeout(go, pauseMs).unref())
  }

  return {
    add,
    take,
    flush() {
      for (const go of waiting) go()
    },
  }
}
