import { randomBelow } from '../../support/random.ts'
import { rulesOf } from '../rules.ts'
import { textOf, type ChargeRequest } from './api.ts'
import { type Charge, chargedOf, type Terms, transactionOf } from './charges.ts'
import { type HookData, sendHook } from './hooks.ts'
import { disputeOf, type Refund, type RefundState, type RefundStory, refundUpdate } from './moneyBack.ts'
import { type Ending, type Hook, type HookKind, type Story, storyByNumber } from './stories.ts'

export type BusinessOptions = Partial<Omit<Terms, 'domain'>> & {
  secretKey?: string
  webhookUrl?: string
  retryMs?: number // between tries of a webhook
}

export type Business = ReturnType<typeof openBusiness>

// Ids increase across all businesses and restarts, because a gateway stores them.
let lastId = Math.floor(Date.now() / 100)
const newId = () => (lastId += 1 + randomBelow(7))

const day = 86_400_000

type RefundRequest = {
  id?: number
  amount?: number
  status?: RefundState
  dispute?: number
  note?: string
  story?: RefundStory
}

// What can still be refunded: open refunds hold their amount.
export const refundableOf = (charge: Charge) =>
  charge.refunds
    .filter(({ status }) => status !== 'failed')
    .reduce((left, { amount }) => left - amount, chargedOf(charge))

const leftOf = (charge: Charge) =>
  charge.refunds
    .filter(({ status }) => status === 'processed')
    .reduce((left, { amount }) => left - amount, chargedOf(charge))

// One business in one mode: its secret key, its webhook address, and its charges.
export function openBusiness(options: BusinessOptions) {
  const {
    secretKey = 'sk_test_simulated',
    promptMs = 180_000,
    pageMs = 1_800_000,
    notFoundHttp = 404,
    retryMs = 180_000,
  } = options
  const domain = secretKey.startsWith('sk_live_') ? 'live' : 'test'
  const terms: Terms = { promptMs, pageMs, notFoundHttp, domain }
  const hooks = { url: options.webhookUrl, secretKey, retryMs }
  const charges = new Map<string, Charge>()
  const rules = rulesOf<Story>()
  const refundRules = rulesOf<RefundStory>()
  const timers = new Set<NodeJS.Timeout>()

  function later(work: () => Promise<unknown>, afterMs: number) {
    const timer = setTimeout(() => {
      timers.delete(timer)
      void work()
    }, afterMs)
    timers.add(timer.unref())
  }

  function make(request: ChargeRequest, channel: Charge['channel']): Charge {
    const { phone: number, provider } = (request.mobile_money ?? {}) as { phone?: string; provider?: string }
    const key = String(request.reference)
    const told = rules.storyOf({ number, amount: String(request.amount), key })
    const story = told ?? storyByNumber(number ?? '') ?? {}
    const asks = story.asks ?? (provider === 'vod' ? 'send_otp' : 'pay_offline')
    const now = Date.now()
    const charge: Charge = {
      id: newId(),
      reference: key,
      amount: Number(request.amount),
      currency: String(request.currency),
      email: String(request.email),
      channel,
      phone: number,
      provider,
      metadata: request.metadata,
      callback_url: typeof request.callback_url === 'string' ? request.callback_url : undefined,
      story,
      asks,
      text: textOf(asks, provider),
      tries: 0,
      made_at: now,
      window_at: now,
      says: '',
      declines: [],
      refunds: [],
      disputes: [],
    }
    charges.set(key, charge)
    return charge
  }

  // A declined card payment may still succeed with another card. A paid charge can only be reversed.
  function end(charge: Charge, ended: Ending, says: string) {
    const isPaid = charge.ended === 'success' || charge.ended === 'reversed'
    if (isPaid ? ended !== 'reversed' : charge.ended === 'failed' && charge.channel !== 'card') return
    Object.assign(charge, { ended, says, ended_at: isPaid ? charge.ended_at : Date.now() })
    if (ended === 'failed' && charge.channel === 'card') charge.declines.push({ says, at: Date.now() })
    if (ended === 'reversed') later(() => announceReversal(charge), 0)
    if (ended === 'success') for (const hook of charge.story.hooks ?? [{}]) announce(charge, hook)
  }

  function announce(charge: Charge, { kind = 'good', afterMs = 0 }: Hook) {
    if (kind !== 'early') later(() => hook(charge, kind), afterMs)
  }

  const paidDataOf = (charge: Charge) => ({ ...transactionOf(charge, terms, Date.now()), status: 'success' })
  const send = (event: string, data: HookData, kind?: HookKind) =>
    sendHook(hooks, event, data, { kind, later })
  const hook = (charge: Charge, kind: HookKind) => send('charge.success', paidDataOf(charge), kind)

  // A reversal by Paystack itself: it has no refund entry.
  const announceReversal = (charge: Charge) => {
    const whole = { id: 0, amount: chargedOf(charge), status: 'processed', dispute: null, at: 0 } as const
    return send('refund.processed', refundUpdate(charge, whole, terms))
  }

  // Creates a refund, or moves one to its next state. Refunds of the whole amount reverse the transaction.
  async function refund(charge: Charge, request: RefundRequest = {}) {
    const { amount = leftOf(charge), status = 'processed', dispute = null, note, story } = request
    const known = charge.refunds.find(({ id }) => id === request.id)
    const one: Refund = known ?? { id: newId(), amount, status, dispute, at: Date.now(), note, story }
    if (known) known.status = status
    else charge.refunds.push(one)
    if (charge.ended === 'success' && leftOf(charge) <= 0) charge.ended = 'reversed'
    return { id: one.id, http: await send(`refund.${status}`, refundUpdate(charge, one, terms)) }
  }

  // Counts a read of the refunds of a charge. They end after as many reads as their stories say.
  async function countRead(charge: Charge) {
    for (const one of charge.refunds) {
      const {
        ends = 'processed',
        afterReads = 1,
        hiddenReads = 0,
        first = 'pending',
        isStale,
      } = one.story ?? {}
      one.reads = (one.reads ?? 0) + 1
      if (!one.story || ends === 'never' || one.status !== first || ends === first) continue
      if (one.reads - hiddenReads <= afterReads) continue
      await refund(charge, { id: one.id, status: ends })
      if (isStale) await send(`refund.${first}`, refundUpdate(charge, { ...one, status: first }, terms))
    }
  }

  async function openDispute(charge: Charge, { amount = charge.amount }: { amount?: number } = {}) {
    const now = Date.now()
    const opened = {
      id: newId(),
      amount,
      status: 'awaiting-merchant-feedback',
      resolution: null,
      due_at: now + day,
      at: now,
    } as const
    charge.disputes.push({ ...opened })
    return { id: opened.id, http: await sendDispute(charge, opened.id, 'create') }
  }

  // Resolves the last open dispute. A lost one is refunded.
  async function resolveDispute(charge: Charge, isWon: boolean) {
    const dispute = charge.disputes.findLast(({ status }) => status !== 'resolved')
    if (!dispute) throw new Error(`no open dispute of ${charge.reference}`)
    dispute.status = 'resolved'
    dispute.resolution = isWon ? 'declined' : 'merchant-accepted'
    if (!isWon) await refund(charge, { amount: dispute.amount, dispute: dispute.id })
    return { id: dispute.id, http: await sendDispute(charge, dispute.id, 'resolve') }
  }

  function sendDispute(charge: Charge, id: number, event: 'create' | 'remind' | 'resolve') {
    const dispute = charge.disputes.find(one => one.id === id)
    if (!dispute) throw new Error(`no dispute ${id}`)
    return send(`charge.dispute.${event}`, disputeOf(charge, dispute, terms, Date.now()))
  }

  // Ends a charge automatically, if its story says so. A charge that waits for a code does not end.
  async function play(charge: Charge) {
    const { ends, afterMs = 0, says = 'Declined', hooks: told = [] } = charge.story
    if (!ends || charge.asks.startsWith('send_')) return
    const work = async () => end(charge, ends, ends === 'failed' ? says : 'Approved')
    if (afterMs > 0) return later(work, afterMs)
    await work()
    for (const { kind } of told) if (kind === 'early') await hook(charge, kind)
  }

  function close() {
    for (const timer of timers) clearTimeout(timer)
    timers.clear()
  }

  return {
    secretKey,
    refusesWith: undefined as 401 | 403 | undefined, // its own key
    terms,
    hooks,
    charges,
    rules,
    make,
    end,
    play,
    hook,
    refundRules,
    refund,
    countRead,
    openDispute,
    resolveDispute,
    close,
  }
}
