import { type NewTransfer } from '../../../src/core/ledger/book.ts'
import { type LedgerChange, transfersOf } from '../../../src/core/ledger/bookChange.ts'
import { readMerchantSettings } from '../../../src/core/merchant/settings.ts'
import { applyReply } from '../../../src/core/payment/applyReply.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import { type DisputeRecord, noMoneyBack, type ReversalRecord } from '../../../src/core/payment/change.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { RefundOrder, SanitizedRefundReply } from '../../../src/core/provider/refundOrder.ts'
import type { Reply, Reversal } from '../../../src/core/provider/reply.ts'
import {
  applyRefundReply,
  decisionOf,
  type RefundDecision,
  type RefundReplyContext,
  type RefundSubject,
} from '../../../src/core/refund/applyRefundReply.ts'
import { decideRefundAmount, isWhole } from '../../../src/core/refund/ceiling.ts'
import { matchReversals, replyOfListed } from '../../../src/core/refund/matchReversals.ts'
import {
  isOpenRefund,
  maySendRefund,
  type Refund,
  type RefundSource,
} from '../../../src/core/refund/refund.ts'
import { firstRefundPoll } from '../../../src/core/refund/refundSchedule.ts'
import { aRefund } from '../../support/payments/refundRows.ts'
import {
  anAttempt,
  aPayment,
  hours,
  minutes,
  noon,
  replyContext,
  seconds,
} from '../../support/payments/rows.ts'
import { type Behaviour, plain, stepping } from './behaviours.ts'
import { faultsOfLedger } from './ledgerFaults.ts'
import { createProvider, onItsWayMs } from './provider.ts'
import { faultsOfRefunds } from './refundFaults.ts'

// The program's rules about refunds. A test replaces one by a broken one, to show that a walk finds the fault.
export const refundRules = {
  applyRefundReply,
  decideRefundAmount,
  matchReversals,
  maySendRefund,
  transfersOf,
}
export type RefundRules = typeof refundRules

// A request to the provider, or its reply. `snapshot` is the refund when the request was sent.
type Trip = { snapshot: Refund; context: RefundReplyContext; sent: number }
type Message =
  | (Trip & { kind: 'send' | 'check'; order: RefundOrder })
  | (Trip & { kind: 'reply'; wasCheck: boolean; reply: SanitizedRefundReply })
  | { kind: 'list'; attempt_id: string; reply: Reply }

const settings = readMerchantSettings({ fee: '1.5% + 0.20, at most 20.00', fee_on_refund: 'return' })
const amounts = [100n, 500n, 900n, 2500n, 'left'] as const
const waits = [200, seconds(9), minutes(1), minutes(3), minutes(20), hours(3)]
const clearRoll = 1025 // everything leaves and is answered, and the provider decides
const share = (roll: number) => (roll % 1000) / 1000

const pick = <T>(all: readonly T[], roll: number) => all[roll % all.length]
const ids = ['first', 'second'] // the charges
const ofCharge = (attempt_id: string) => (one: { attempt_id: string }) => one.attempt_id === attempt_id

// A payment with its charge and a second charge, at one provider. A step is one random number: its low part selects the
// action, the rest the details.
export function refundWalk(numbers: readonly number[], seen: Set<string>, rules: RefundRules): string[] {
  const world = createRefundWorld(numbers.length % 2 ? plain : stepping(0), rules, seen)
  for (const number of numbers) {
    world.act(number % 16, Math.floor(number / 16))
    const faults = world.faults(false)
    if (faults.length > 0) return faults
  }
  world.rest()
  return world.faults(true)
}

function createRefundWorld(behaviour: Behaviour, rules: RefundRules, seen: Set<string>) {
  const provider = createProvider(behaviour)
  const attempts = new Map<string, Attempt>()
  const refunds = new Map<string, Refund>()
  const transfers: NewTransfer[] = []
  const faults: string[] = []
  let reversals: ReversalRecord[] = []
  let disputes: DisputeRecord[] = []
  let payment: Payment = aPayment()
  let wire: Message[] = []
  let now = noon.getTime()
  const clock = () => new Date(now)

  const moneyBackOf = (attempt_id: string) => ({
    reversals: reversals.filter(ofCharge(attempt_id)),
    disputes: disputes.filter(ofCharge(attempt_id)),
  })
  const subjectOf = (attempt_id: string): RefundSubject => ({
    payment,
    attempt: attempts.get(attempt_id) as Attempt,
    refunds: [...refunds.values()],
    moneyBack: moneyBackOf(attempt_id),
    openTasks: [],
  })
  const book = (change: LedgerChange) => transfers.push(...rules.transfersOf(change, () => settings))

  // A commit: the refund, the sums of the payment and the transfers.
  function commit(before: Refund | undefined, { payment: after, refund, attempt, claimed }: RefundDecision) {
    const fee = transfers
      .filter(({ kind }) => kind === 'gateway_fee')
      .reduce((sum, one) => sum + one.amount, 0n)
    book({
      before: payment,
      after,
      refund: { before, after: refund },
      refundedCharge: attempt,
      claimedReversals: claimed,
      feeToReturn: { fee, refunded: payment.refunded_amount ?? 0n },
    })
    reversals = reversals.map(one =>
      claimed.includes(one) ? { ...one, refund_reference: refund.refund_reference } : one,
    )
    payment = after
    refunds.set(refund.refund_reference, refund)
    if (before?.state !== refund.state) seen.add(`${before?.state ?? 'none'} > ${refund.state}`)
  }

  // The reply about a charge, with its reversals and disputes.
  function applyList(attempt_id: string, reply: Reply) {
    const before = attempts.get(attempt_id) as Attempt
    const listed: readonly Reversal[] = (reply.state === 'paid' && reply.reversals) || []
    const own = [...refunds.values()].filter(ofCharge(attempt_id))
    const matched = rules.matchReversals(listed, own)
    const stored = moneyBackOf(attempt_id)
    const read = reply.state === 'paid' ? { ...reply, reversals: matched.reversals } : reply
    const change = applyReply(payment, before, read, clock(), { ...replyContext, askedAt: clock() }, stored)
    book({
      before: payment,
      after: change.payment,
      attemptBefore: before,
      repliedAttempt: change.attempt,
      moneyBackBefore: stored,
      moneyBack: change.moneyBack,
    })
    payment = change.payment
    attempts.set(attempt_id, change.attempt)
    const { reversals: added, disputes: changed } = change.moneyBack ?? noMoneyBack
    reversals = [...reversals, ...added]
    const isChanged = (one: DisputeRecord) =>
      changed.some(each => each.attempt_id === one.attempt_id && each.dispute_id === one.dispute_id)
    disputes = [...disputes.filter(one => !isChanged(one)), ...changed]
    if (matched.deferred.length > 0) seen.add('deferred')
    if (added.length > 0) seen.add('reversed')
    for (const { refund, reversal } of matched.ours) {
      seen.add('listed')
      applyRefund(refund, replyOfListed(refund, reversal), contextOf(refund, refund.sent_at))
    }
  }

  const contextOf = ({ sends }: Refund, sentBefore: Date | null): RefundReplyContext => ({
    visibleWithinMs: behaviour.visibleWithinMs,
    timing: behaviour.timing,
    askedAt: clock(),
    sends,
    sentBefore,
  })

  function applyRefund(snapshot: Refund, reply: SanitizedRefundReply, context: RefundReplyContext) {
    const before = refunds.get(snapshot.refund_reference) as Refund
    commit(before, rules.applyRefundReply(subjectOf(before.attempt_id), before, reply, clock(), context))
  }

  function request(source: RefundSource, attempt_id: string, roll: number) {
    const subject = subjectOf(attempt_id)
    const requested = amounts[roll % amounts.length] as bigint | 'left'
    const decided = rules.decideRefundAmount(requested, source, subject, { hasPartial: true }, clock())
    if ('fault' in decided) {
      seen.add(decided.fault)
      return
    }
    if (decided.amount > ceiling(attempt_id)) faults.push('a refund exceeds what is left of the charge')
    const refund = aRefund({
      refund_reference: `ama0000000refund${refunds.size + 1}`,
      attempt_id,
      source,
      provider_account: behaviour.name,
      amount: decided.amount,
      sends: 0,
      sent_at: null,
      next_poll_at: firstRefundPoll(clock(), behaviour.timing),
      created_at: clock(),
      updated_at: clock(),
    })
    commit(undefined, decisionOf(subject, undefined, refund, [], 'merchant', clock()))
  }

  // What may go back of a charge, by another computation than the program's.
  function ceiling(attempt_id: string): bigint {
    const own = [...refunds.values()].filter(one => one.attempt_id === attempt_id && one.state !== 'failed')
    const back = moneyBackOf(attempt_id)
    const gone = [
      ...own,
      ...back.reversals.filter(one => !one.refund_reference),
      ...back.disputes.filter(one => one.state !== 'won'),
    ]
    return gone.reduce((left, { amount }) => left - amount, payment.total)
  }

  // Sends a refund, or asks about it. The sending is committed before it leaves.
  function work(polled: Refund | undefined, roll: number) {
    if (!polled || polled.next_poll_at === null) return
    if (polled.sent_at === null && polled.state === 'requested') return send(polled, roll)
    const context = contextOf(polled, polled.sent_at)
    wire.push({ kind: 'check', order: orderOf(polled, polled.sent_at), snapshot: polled, context, sent: now })
  }

  function send(polled: Refund, roll: number) {
    const before = refunds.get(polled.refund_reference) as Refund
    if (before.sends !== polled.sends || !rules.maySendRefund(before, behaviour.startIsIdempotent)) return
    const after: Refund = { ...before, sends: before.sends + 1, sent_at: clock() }
    refunds.set(after.refund_reference, after)
    const trip = { snapshot: after, context: contextOf(after, before.sent_at), sent: now }
    if (after.sends > 1) seen.add('sent again')
    if (roll % 8 === 0)
      wire.push({ kind: 'reply', wasCheck: false, reply: { state: 'not_sent', words: '' }, ...trip })
    else wire.push({ kind: 'send', order: orderOf(after, before.sent_at), ...trip })
  }

  function orderOf(refund: Refund, sentBefore: Date | null): RefundOrder {
    const subject = subjectOf(refund.attempt_id)
    const { refund_reference, amount, currency, tx_reference, invoice_id } = refund
    return {
      refund_reference,
      idempotency_key: refund_reference,
      provider_ref: refund.provider_ref,
      amount,
      currency,
      reason: '',
      is_whole: isWhole(amount, subject, refund),
      requested_at: refund.created_at,
      sent_at: refund.sent_at,
      is_first_sending: sentBefore === null,
      charge: {
        attempt_id: refund.attempt_id,
        idempotency_key: refund.attempt_id,
        provider_ref: null,
        payment_method: behaviour.payment_method,
        amount: payment.total,
        instrument: null,
        started_at: noon,
        paid_at: noon,
      },
      tx_reference,
      invoice_id,
      merchant_name: 'Ama Shop',
      other_refs: [],
      callback_url: '',
      webhook_url: '',
    }
  }

  // A request that did not arrive in time never arrives. A reply may be late.
  function deliver(message: Message | undefined, roll: number) {
    if (!message) return
    wire = wire.filter(one => one !== message)
    if (message.kind === 'list') return applyList(message.attempt_id, message.reply)
    if (message.kind === 'reply') return receive(message, roll)
    if (now - message.sent > onItsWayMs) return
    const { kind, order, ...trip } = message
    const reply =
      kind === 'send' ? provider.refundOurs(order, share(roll)) : provider.checkOurs(order, share(roll))
    const isClear = (roll >> 10) % 6 > 0
    const received: SanitizedRefundReply = isClear ? reply : { state: 'unknown', words: 'HTTP 503' }
    wire.push({ kind: 'reply', wasCheck: kind === 'check', reply: received, ...trip })
  }

  function receive({ snapshot, reply, context, wasCheck }: Message & { kind: 'reply' }, roll: number) {
    const isSendable =
      wasCheck && reply.state === 'absent' && rules.maySendRefund(snapshot, behaviour.startIsIdempotent)
    if (isSendable) send(snapshot, roll)
    else applyRefund(snapshot, reply, context)
  }

  const list = (attempt_id: string) =>
    wire.push({ kind: 'list', attempt_id, reply: provider.look(attempt_id, now, true) })

  function turn(roll: number) {
    const failed = [...refunds.values()].filter(({ state }) => state === 'failed')
    const refund = failed[roll % failed.length]
    if (!refund || !provider.turnOurs(refund.attempt_id, refund.refund_reference)) return
    seen.add('turned')
    list(refund.attempt_id)
  }

  function act(kind: number, roll: number) {
    const all = [...refunds.values()]
    const attempt_id = pick(ids, roll) as string
    if (kind < 2) request('payment', 'first', roll)
    else if (kind < 3) request('surplus', 'second', roll)
    else if (kind < 6) work(pick(all, roll), roll >> 5)
    else if (kind < 11) deliver(pick(wire, roll), roll >> 5)
    else if (kind < 12)
      wire = wire.filter(one => one !== pick(wire, roll)) // lost
    else if (kind < 13) list(attempt_id)
    else if (kind < 14) takeBack(attempt_id, roll >> 1)
    else if (kind < 15) turn(roll)
    else now += pick(waits, roll) as number
  }

  function takeBack(attempt_id: string, roll: number) {
    if (roll % 3 > 0) provider.refund(attempt_id, roll % 2 === 0)
    else provider.dispute(attempt_id, roll % 2 === 0)
  }

  // All messages arrive or are lost, then everything that is due is polled until nothing is open.
  function rest() {
    for (const message of wire) deliver(message, clearRoll)
    for (let turns = 0; turns < 12; turns++) {
      now += hours(3)
      for (const refund of refunds.values()) work(refund, clearRoll)
      for (let left = 50; wire.length > 0 && left > 0; left--) deliver(wire[0], clearRoll)
      for (const attempt_id of ids) list(attempt_id)
      for (let left = 50; wire.length > 0 && left > 0; left--) deliver(wire[0], clearRoll)
    }
  }

  for (const [at, attempt_id] of ids.entries()) {
    provider.take(attempt_id, payment.total, now, 0)
    provider.charge(attempt_id, now)
    attempts.set(attempt_id, anAttempt({ attempt_id, number: at + 1, provider_account: behaviour.name }))
    applyList(attempt_id, provider.look(attempt_id, now))
  }

  const record = () => ({
    payment,
    attempts: [...attempts.values()],
    refunds: [...refunds.values()],
    reversals,
    disputes,
    transfers,
  })

  return {
    act,
    rest,
    faults: (isAtRest: boolean) => [
      ...faults,
      ...faultsOfRefunds(record(), provider.orders, isAtRest),
      ...faultsOfLedger(record(), provider.orders),
      ...(isAtRest && record().refunds.some(isOpenRefund) ? ['a refund has not ended'] : []),
    ],
  }
}
