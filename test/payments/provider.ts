import type { Reply } from '../../src/core/channel/channel.ts'
import { absent, minutes, no, pending, withdrawn } from '../support/lifeRows.ts'

// A provider with books of its own. It takes an order once per reference, and decides when it likes: it may refuse and
// charge later, and take another amount than was asked for. What it says when asked is its books, or nothing clear.
export type Entry = {
  reference: string
  amount: bigint
  truth: 'pending' | 'charged' | 'refused'
  charges: number
  wasRefused: boolean
  wasWithdrawn?: boolean // refused because we asked for it
  starts: number // how often it was sent
  taken: number // ms
  visible: number // until then it says that it has no such order
  lastCharge: number // a later one is told until we have heard of it
  knocks: boolean // and this is on its way
}

// What the provider promises, so that asking finds every charge in the end: an order is in sight long before we give
// it up as absent; it is charged within two hours, whatever was said of it meanwhile, or else we are told for sure.
const outOfSightMs = minutes(3)
const chargesWithinMs = minutes(100)

export type Provider = ReturnType<typeof createProvider>

export function createProvider() {
  const books = new Map<string, Entry>()

  // Gives back the answer to the first order, and the books' state to a repeated one.
  function take(reference: string, amount: bigint, now: number, hiddenShare: number): Reply {
    const entry = books.get(reference)
    if (entry) {
      entry.starts++
      return look(reference, entry.visible)
    }
    const visible = now + Math.floor(hiddenShare * outOfSightMs)
    const lastCharge = now + chargesWithinMs
    const fresh = {
      truth: 'pending',
      charges: 0,
      wasRefused: false,
      starts: 1,
      taken: now,
      knocks: false,
    } as const
    books.set(reference, { ...fresh, reference, amount, visible, lastCharge })
    return pending
  }

  function look(reference: string, now: number): Reply {
    const entry = books.get(reference)
    if (!entry || entry.visible > now) return absent
    if (entry.truth === 'pending') return pending
    if (entry.truth === 'refused') return entry.wasWithdrawn ? withdrawn : no
    const { amount } = entry
    return { state: 'paid', order: reference, amount, currency: 'GHS', provider_ref: `P-${reference}` }
  }

  function charge(reference: string, now: number, otherAmount = false) {
    const entry = books.get(reference)
    if (!entry || entry.truth === 'charged') return false
    if (otherAmount) entry.amount += 100n
    entry.truth = 'charged'
    entry.charges++
    entry.knocks = now > entry.lastCharge
    return true
  }

  function refuse(reference: string) {
    const entry = books.get(reference)
    if (!entry || entry.truth !== 'pending') return false
    entry.truth = 'refused'
    entry.wasRefused = true
    return true
  }

  // The first decision stands; and what is not in sight cannot be withdrawn either.
  function withdraw(reference: string, now: number): Reply {
    const entry = books.get(reference)
    if (entry && entry.visible <= now && refuse(reference)) entry.wasWithdrawn = true
    return look(reference, now)
  }

  return { books, take, look, charge, refuse, withdraw }
}
