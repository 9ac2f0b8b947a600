import type { Dispute, Reply, Reversal } from '../../../src/core/provider/reply.ts'
import type { Step } from '../../../src/core/provider/paymentMethod.ts'
import { absent, minutes, no, pending, withdrawn } from '../../support/payments/rows.ts'
import { type Manner, plain } from './manners.ts'

// A provider with books of its own. It takes an order once per reference, and decides when it likes: it may refuse and
// charge later, and take another amount than was asked for. What it says when asked is its books, or nothing clear.
export type Entry = {
  reference: string
  name: string // what its answers call it
  amount: bigint
  truth: 'pending' | 'charged' | 'refused'
  charges: number
  wasRefused: boolean
  refusedAt: number // ms; or it lives until then
  wasWithdrawn?: boolean // refused because we asked for it
  starts: number // how often it was sent
  taken: number // ms
  visible: number // until then it says that it has no such order
  lastCharge: number // a later one is told until we have heard of it
  knocks: boolean // and this is on its way
  code: 'none' | 'asked' | 'taken'
  wrongCodes: number
  refunds: Reversal[]
  disputes: Dispute[]
}

// What the provider promises, so that asking finds every charge in the end: an order is in sight long before we give
// it up as absent; it is charged within two hours, whatever was said of it meanwhile, or else we are told for sure.
export const onItsWayMs = minutes(2) // an order that has not arrived by then is lost
const chargesWithinMs = minutes(100)
const mostWrongCodes = 3

export const rightCode = '246810'
export const codeStep: Step = { name: 'otp', fields: [{ name: 'otp', kind: 'digits', maxLength: 6 }] }
export const oddly: Reply = {
  state: 'unknown',
  words: 'CREATED',
  unknownCode: 'CREATED',
  acknowledged: true,
}
const repeated: Reply = { state: 'unknown', words: 'Duplicate reference', acknowledged: true }

export type Provider = ReturnType<typeof createProvider>

export function createProvider(manner: Manner = plain) {
  const books = new Map<string, Entry>()

  // Gives back the answer to the first order, and the books' state to a repeated one.
  function take(
    reference: string,
    amount: bigint,
    now: number,
    hiddenShare: number,
    { asks = false, name = reference } = {},
  ): Reply {
    const entry = books.get(reference)
    if (entry) {
      entry.starts++
      return manner.startIsIdempotent ? look(reference, Math.max(now, entry.visible)) : repeated
    }
    const fresh: Entry = {
      reference,
      name,
      amount,
      truth: 'pending',
      charges: 0,
      wasRefused: false,
      refusedAt: now + manner.lifetimeMs,
      starts: 1,
      taken: now,
      visible: now + Math.floor(hiddenShare * (manner.visibleWithinMs - onItsWayMs)),
      lastCharge: now + chargesWithinMs,
      knocks: false,
      code: asks && manner.asksForCode ? 'asked' : 'none',
      wrongCodes: 0,
      refunds: [],
      disputes: [],
    }
    books.set(reference, fresh)
    return openReply(fresh)
  }

  const openReply = ({ code }: Entry): Reply =>
    code === 'asked' ? { state: 'pending', step: codeStep } : pending

  // Nobody has approved it while it lived.
  function close(entry: Entry, now: number) {
    if (!manner.isClosing || entry.truth !== 'pending' || now <= entry.refusedAt) return
    entry.truth = 'refused'
    entry.wasRefused = true
  }

  // A whole refund shows by itself; partial ones and disputes are told to those who ask for them.
  function look(reference: string, now: number, asksForRefunds = false): Reply {
    const entry = books.get(reference)
    if (!entry || entry.visible > now) return absent
    close(entry, now)
    if (entry.truth === 'pending') return openReply(entry)
    if (entry.truth === 'refused') return entry.wasWithdrawn ? withdrawn : no
    const { amount, name, refunds, disputes } = entry
    const yes: Reply = { state: 'paid', order: name, amount, currency: 'GHS', provider_ref: `P-${reference}` }
    const reversals =
      refunds.length > 0 && (asksForRefunds || isRefunded(entry)) ? { reversals: refunds } : {}
    return { ...yes, ...reversals, ...(asksForRefunds && disputes.length > 0 && { disputes }) }
  }

  // Whether it can be charged from this moment on.
  function canCome(entry: Entry, now: number): boolean {
    close(entry, now)
    if (entry.truth === 'pending') return true
    if (entry.truth === 'charged' || entry.code === 'asked') return false
    return !manner.isClosing || now < entry.refusedAt + manner.failureMayReverseForMs
  }

  function charge(reference: string, now: number, otherAmount = false) {
    const entry = books.get(reference)
    if (!entry || entry.code === 'asked' || !canCome(entry, now)) return false
    if (otherAmount) entry.amount += 100n
    entry.truth = 'charged'
    entry.charges++
    entry.knocks = !manner.isClosing && now > entry.lastCharge
    return true
  }

  function refuse(reference: string, now = Number.POSITIVE_INFINITY) {
    const entry = books.get(reference)
    if (!entry || entry.truth !== 'pending') return false
    entry.truth = 'refused'
    entry.wasRefused = true
    entry.refusedAt = Math.min(entry.refusedAt, now)
    return true
  }

  // The first decision stands; and what is not in sight cannot be withdrawn either.
  function withdraw(reference: string, now: number): Reply {
    const entry = books.get(reference)
    if (entry && entry.visible <= now && refuse(reference, now)) entry.wasWithdrawn = true
    return look(reference, now)
  }

  // What the customer typed. A wrong code is asked for again, and a few of them are the end. A right one is what the
  // customer is asked to approve from then on.
  function type(reference: string, code: string, now: number): Reply {
    const entry = books.get(reference)
    if (!entry) return absent
    close(entry, now)
    if (entry.truth === 'pending' && entry.code === 'asked') {
      if (code === rightCode) Object.assign(entry, { code: 'taken', refusedAt: now + manner.lifetimeMs })
      else if (++entry.wrongCodes === mostWrongCodes) refuse(reference, now)
    }
    return look(reference, Math.max(now, entry.visible))
  }

  // Some or all of what is left of a charge goes back.
  function refund(reference: string, isWhole: boolean) {
    const entry = books.get(reference)
    if (entry?.truth !== 'charged' || isRefunded(entry)) return false
    const left = entry.amount - refundedOf(entry)
    const amount = isWhole || left < 10n ? left : left / 3n
    entry.refunds = [...entry.refunds, { id: `R${entry.refunds.length + 1}`, amount, words: '' }]
    return true
  }

  // Opens a dispute, or resolves the one that is open.
  function dispute(reference: string, isWon: boolean) {
    const entry = books.get(reference)
    if (entry?.truth !== 'charged') return false
    const open = entry.disputes.find(({ state }) => state === 'open')
    const one: Dispute = open
      ? { ...open, state: isWon ? 'won' : 'lost' }
      : { id: `D${entry.disputes.length + 1}`, state: 'open', amount: entry.amount, words: '' }
    entry.disputes = [...entry.disputes.filter(({ id }) => id !== one.id), one]
    return true
  }

  return { manner, books, take, look, charge, canCome, refuse, withdraw, type, refund, dispute }
}

const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)
export const refundedOf = ({ refunds }: Entry) => sumOf(refunds)
export const lostOf = ({ disputes }: Entry) => sumOf(disputes.filter(({ state }) => state === 'lost'))
export const isRefunded = (entry: Entry) => refundedOf(entry) >= entry.amount
