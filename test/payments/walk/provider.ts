import type { RefundOrder, RefundReply } from '../../../src/core/provider/refundOrder.ts'
import type { Dispute, Reply, Reversal } from '../../../src/core/provider/reply.ts'
import type { Step } from '../../../src/core/provider/paymentMethod.ts'
import { absent, minutes, no, pending, withdrawn } from '../../support/payments/rows.ts'
import { type Behaviour, plain } from './behaviours.ts'

// A simulated provider. It accepts an order once per reference and decides at any time: it may refuse and charge later,
// and charge another amount than was requested. A poll returns the true state of the order, or nothing clear.
export type Entry = {
  reference: string
  name: string // the order's name in its replies
  amount: bigint
  truth: 'pending' | 'charged' | 'refused'
  charges: number
  wasRefused: boolean
  refusedAt: number // ms; of an open order, when its lifetime ends
  wasWithdrawn?: boolean // refused because the gateway withdrew it
  starts: number // how often it was sent
  taken: number // ms
  visible: number // ms; until then the provider denies the order
  lastCharge: number // ms; a later charge is reported by callbacks until one is received
  callsBack: boolean // such a callback is pending
  code: 'none' | 'asked' | 'taken'
  wrongCodes: number
  refunds: Reversal[] // all that moved money
  ours: RefundEntry[] // those that the gateway requested
  disputes: Dispute[]
}

// A refund that the gateway requested. `made`: it moved money, and is in `refunds`.
export type RefundEntry = {
  key: string
  refund_reference: string
  amount: bigint
  state: 'pending' | 'made' | 'failed'
  id: string
  starts: number // how often it was sent
  hasTurned?: boolean // it was made after it had failed
}

// The provider's promises, by which polling finds every charge in the end: an order is visible long before the gateway
// treats it as absent, and a charge comes within two hours or is reported by a callback that is repeated.
export const onItsWayMs = minutes(2) // an order that has not arrived by then is lost
const chargesWithinMs = minutes(100)
const mostWrongCodes = 3

export const rightCode = '246810'
export const codeStep: Step = { name: 'otp', fields: [{ name: 'otp', kind: 'digits', maxLength: 6 }] }
export const unknownCodeReply: Reply = {
  state: 'unknown',
  words: 'CREATED',
  unknownCode: 'CREATED',
  acknowledged: true,
}
const repeated: Reply = { state: 'unknown', words: 'Duplicate reference', acknowledged: true }

export type Provider = ReturnType<typeof createProvider>

export function createProvider(behaviour: Behaviour = plain) {
  const orders = new Map<string, Entry>()

  // Returns the reply to a new order, or the state of a repeated one.
  function take(
    reference: string,
    amount: bigint,
    now: number,
    hiddenShare: number,
    { asks = false, name = reference } = {},
  ): Reply {
    const entry = orders.get(reference)
    if (entry) {
      entry.starts++
      return behaviour.startIsIdempotent ? look(reference, Math.max(now, entry.visible)) : repeated
    }
    const fresh: Entry = {
      reference,
      name,
      amount,
      truth: 'pending',
      charges: 0,
      wasRefused: false,
      refusedAt: now + behaviour.lifetimeMs,
      starts: 1,
      taken: now,
      visible: now + Math.floor(hiddenShare * (behaviour.visibleWithinMs - onItsWayMs)),
      lastCharge: now + chargesWithinMs,
      callsBack: false,
      code: asks && behaviour.asksForCode ? 'asked' : 'none',
      wrongCodes: 0,
      refunds: [],
      ours: [],
      disputes: [],
    }
    orders.set(reference, fresh)
    return openReply(fresh)
  }

  const openReply = ({ code }: Entry): Reply =>
    code === 'asked' ? { state: 'pending', step: codeStep } : pending

  // Refuses an order that was not approved within its lifetime.
  function close(entry: Entry, now: number) {
    if (!behaviour.isClosing || entry.truth !== 'pending' || now <= entry.refusedAt) return
    entry.truth = 'refused'
    entry.wasRefused = true
  }

  // A full refund is always shown; partial refunds and disputes only on request.
  function look(reference: string, now: number, asksForRefunds = false): Reply {
    const entry = orders.get(reference)
    if (!entry || entry.visible > now) return absent
    close(entry, now)
    if (entry.truth === 'pending') return openReply(entry)
    if (entry.truth === 'refused') return entry.wasWithdrawn ? withdrawn : no
    const { amount, name, refunds, disputes } = entry
    const { feeShare } = behaviour
    const fee = feeShare > 0n ? { fee: amount / feeShare } : {}
    const yes: Reply = {
      state: 'paid',
      order: name,
      amount,
      currency: 'GHS',
      provider_ref: `P-${reference}`,
      ...fee,
    }
    const reversals =
      refunds.length > 0 && (asksForRefunds || isRefunded(entry)) ? { reversals: refunds } : {}
    return { ...yes, ...reversals, ...(asksForRefunds && disputes.length > 0 && { disputes }) }
  }

  // Whether the order can still be charged.
  function canCome(entry: Entry, now: number): boolean {
    close(entry, now)
    if (entry.truth === 'pending') return true
    if (entry.truth === 'charged' || entry.code === 'asked') return false
    return !behaviour.isClosing || now < entry.refusedAt + behaviour.failureMayReverseForMs
  }

  function charge(reference: string, now: number, otherAmount = false) {
    const entry = orders.get(reference)
    if (!entry || entry.code === 'asked' || !canCome(entry, now)) return false
    if (otherAmount) entry.amount += 100n
    entry.truth = 'charged'
    entry.charges++
    entry.callsBack = !behaviour.isClosing && now > entry.lastCharge
    return true
  }

  function refuse(reference: string, now = Number.POSITIVE_INFINITY) {
    const entry = orders.get(reference)
    if (!entry || entry.truth !== 'pending') return false
    entry.truth = 'refused'
    entry.wasRefused = true
    entry.refusedAt = Math.min(entry.refusedAt, now)
    return true
  }

  // The first decision is final, and an order that is not visible yet cannot be withdrawn.
  function withdraw(reference: string, now: number): Reply {
    const entry = orders.get(reference)
    if (entry && entry.visible <= now && refuse(reference, now)) entry.wasWithdrawn = true
    return look(reference, now)
  }

  // The customer's code. After a wrong code the provider asks again, a few times. After the right one the order waits for
  // the customer's approval.
  function type(reference: string, code: string, now: number): Reply {
    const entry = orders.get(reference)
    if (!entry) return absent
    close(entry, now)
    if (entry.truth === 'pending' && entry.code === 'asked') {
      if (code === rightCode) Object.assign(entry, { code: 'taken', refusedAt: now + behaviour.lifetimeMs })
      else if (++entry.wrongCodes === mostWrongCodes) refuse(reference, now)
    }
    return look(reference, Math.max(now, entry.visible))
  }

  // Refunds the rest of a charge, or a part of it.
  function refund(reference: string, isWhole: boolean) {
    const entry = orders.get(reference)
    if (entry?.truth !== 'charged' || isRefunded(entry)) return false
    const left = entry.amount - refundedOf(entry)
    const amount = isWhole || left < 10n ? left : left / 3n
    entry.refunds = [...entry.refunds, { id: `R${entry.refunds.length + 1}`, amount, words: '' }]
    return true
  }

  // The gateway requests a refund. It is made at once, later, or not. A used key is refused; without idempotent starts it
  // would be made again. Some lists name our reference.
  function refundOurs(order: RefundOrder, roll: number): RefundReply {
    const entry = orders.get(order.charge.attempt_id)
    if (entry?.truth !== 'charged') return { state: 'failed', words: 'not charged', isRefused: true }
    const { idempotency_key: key, refund_reference, amount } = order
    const before = entry.ours.find(one => one.key === key)
    if (before) {
      before.starts++
      return behaviour.startIsIdempotent ? checkOurs(order, roll) : repeatedRefund
    }
    if (amount > entry.amount - refundedOf(entry))
      return { state: 'failed', words: 'too much', isRefused: true }
    const id = `O${entry.ours.length + 1}`
    const one: RefundEntry = { key, refund_reference, amount, state: 'pending', id, starts: 1 }
    entry.ours.push(one)
    if (roll < 0.6) decideOurs(entry, one, true, roll < 0.3)
    else if (roll < 0.75) decideOurs(entry, one, false, false)
    return replyOurs(one, order)
  }

  function decideOurs(entry: Entry, one: RefundEntry, isMade: boolean, isNamed: boolean) {
    const isPayable = one.amount <= entry.amount - refundedOf(entry)
    one.state = isMade && isPayable ? 'made' : 'failed'
    const { id, amount, refund_reference } = one
    const listed = { id, amount, words: '', ...(isNamed && { refund_reference }) }
    if (one.state === 'made') entry.refunds = [...entry.refunds, listed]
    return one.state === 'made'
  }

  function checkOurs(order: RefundOrder, roll: number): RefundReply {
    const entry = orders.get(order.charge.attempt_id)
    const one = entry?.ours.find(({ key }) => key === order.idempotency_key)
    if (!entry || !one) return { state: 'absent' }
    if (one.state === 'pending' && roll < 0.5) decideOurs(entry, one, roll < 0.4, roll < 0.2)
    return replyOurs(one, order)
  }

  // Makes a refund after all that was reported as failed.
  function turnOurs(reference: string, key: string) {
    const entry = orders.get(reference)
    const one = entry?.ours.find(each => each.key === key)
    if (!entry || one?.state !== 'failed') return false
    one.hasTurned = decideOurs(entry, one, true, false)
    return one.hasTurned
  }

  // Opens a dispute, or resolves the one that is open.
  function dispute(reference: string, isWon: boolean) {
    const entry = orders.get(reference)
    if (entry?.truth !== 'charged') return false
    const open = entry.disputes.find(({ state }) => state === 'open')
    const one: Dispute = open
      ? { ...open, state: isWon ? 'won' : 'lost' }
      : { id: `D${entry.disputes.length + 1}`, state: 'open', amount: entry.amount, words: '' }
    entry.disputes = [...entry.disputes.filter(({ id }) => id !== one.id), one]
    return true
  }

  const acts = {
    take,
    look,
    charge,
    canCome,
    refuse,
    withdraw,
    type,
    refund,
    refundOurs,
    checkOurs,
    turnOurs,
    dispute,
  }
  return { behaviour, orders, ...acts }
}

const repeatedRefund: RefundReply = { state: 'unknown', words: 'Duplicate refund', acknowledged: true }

function replyOurs({ state, id, amount, key }: RefundEntry, { currency }: RefundOrder): RefundReply {
  if (state === 'failed') return { state, words: 'No.', provider_ref: id }
  if (state === 'pending') return { state }
  return { state: 'succeeded', refund: key, amount, currency, provider_ref: id }
}

const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)
export const refundedOf = ({ refunds }: Entry) => sumOf(refunds)
export const lostOf = ({ disputes }: Entry) => sumOf(disputes.filter(({ state }) => state === 'lost'))
export const isRefunded = (entry: Entry) => refundedOf(entry) >= entry.amount
