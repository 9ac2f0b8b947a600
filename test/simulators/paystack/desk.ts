import { randomBelow } from '../../support/random.ts'
import { rulesOf } from '../rules.ts'
import { textOf, type Wish } from './api.ts'
import { type Charge, chargedOf, type Terms, transactionOf } from './books.ts'
import { type HookData, sendHook } from './hooks.ts'
import { disputeOf, type RefundState, refundNews } from './moneyBack.ts'
import { type Ending, type Hook, type HookKind, type Story, storyByNumber } from './stories.ts'

export type DeskOptions = Partial<Omit<Terms, 'domain'>> & {
  secretKey?: string
  webhookUrl?: string
  retryMs?: number // between tries of a webhook
}

export type Desk = ReturnType<typeof openDesk>

// Ids count up across all businesses, and go on after a restart: a gateway remembers them.
let lastId = Math.floor(Date.now() / 100)
const newId = () => (lastId += 1 + randomBelow(7))

const day = 86_400_000

const leftOf = (charge: Charge) =>
  charge.refunds
    .filter(({ status }) => status === 'processed')
    .reduce((left, { amount }) => left - amount, chargedOf(charge))

// One business in one mode: its secret key, its webhook address, and its charges.
export function openDesk(options: DeskOptions) {
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
  const timers = new Set<NodeJS.Timeout>()

  function later(work: () => Promise<unknown>, afterMs: number) {
    const timer = setTimeout(() => {
      timers.delete(timer)
      void work()
    }, afterMs)
    timers.add(timer.unref())
  }

  function make(wish: Wish, channel: Charge['channel']): Charge {
    const { phone: number, provider } = (wish.mobile_money ?? {}) as { phone?: string; provider?: string }
    const key = String(wish.reference)
    const told = rules.storyOf({ number, amount: String(wish.amount), key })
    const story = told ?? storyByNumber(number ?? '') ?? {}
    const asks = story.asks ?? (provider === 'vod' ? 'send_otp' : 'pay_offline')
    const now = Date.now()
    const charge: Charge = {
      id: newId(),
      reference: key,
      amount: Number(wish.amount),
      currency: String(wish.currency),
      email: String(wish.email),
      channel,
      phone: number,
      provider,
      metadata: wish.metadata,
      callback_url: typeof wish.callback_url === 'string' ? wish.callback_url : undefined,
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

  // A no of a page may become a yes: its customer tries another card. Money that has moved stays, unless it goes back.
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

  const toldOf = (charge: Charge) => ({ ...transactionOf(charge, terms, Date.now()), status: 'success' })
  const send = (event: string, data: HookData, kind?: HookKind) =>
    sendHook(hooks, event, data, { kind, later })
  const hook = (charge: Charge, kind: HookKind) => send('charge.success', toldOf(charge), kind)

  // A reversal by Paystack itself: no refund is listed.
  const announceReversal = (charge: Charge) => {
    const whole = { id: 0, amount: chargedOf(charge), status: 'processed', dispute: null, at: 0 } as const
    return send('refund.processed', refundNews(charge, whole, terms))
  }

  // A new refund, or the next state of one. Refunds of the whole amount reverse the transaction.
  async function refund(
    charge: Charge,
    wish: { id?: number; amount?: number; status?: RefundState; dispute?: number } = {},
  ) {
    const { amount = leftOf(charge), status = 'processed', dispute = null } = wish
    const known = charge.refunds.find(({ id }) => id === wish.id)
    const one = known ?? { id: newId(), amount, status, dispute, at: Date.now() }
    if (known) known.status = status
    else charge.refunds.push(one)
    if (charge.ended === 'success' && leftOf(charge) <= 0) charge.ended = 'reversed'
    return { id: one.id, http: await send(`refund.${status}`, refundNews(charge, one, terms)) }
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
    return { id: opened.id, http: await tellDispute(charge, opened.id, 'create') }
  }

  // The last one that is open. One that is lost is refunded.
  async function resolveDispute(charge: Charge, isWon: boolean) {
    const dispute = charge.disputes.findLast(({ status }) => status !== 'resolved')
    if (!dispute) throw new Error(`no open dispute of ${charge.reference}`)
    dispute.status = 'resolved'
    dispute.resolution = isWon ? 'declined' : 'merchant-accepted'
    if (!isWon) await refund(charge, { amount: dispute.amount, dispute: dispute.id })
    return { id: dispute.id, http: await tellDispute(charge, dispute.id, 'resolve') }
  }

  function tellDispute(charge: Charge, id: number, event: 'create' | 'remind' | 'resolve') {
    const dispute = charge.disputes.find(one => one.id === id)
    if (!dispute) throw new Error(`no dispute ${id}`)
    return send(`charge.dispute.${event}`, disputeOf(charge, dispute, terms, Date.now()))
  }

  // What happens to a charge by itself, where its story says so. Nobody is charged while a code is missing.
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
    refund,
    openDispute,
    resolveDispute,
    close,
  }
}
