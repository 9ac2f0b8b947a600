import { rulesOf } from '../rules.ts'
import { textOf, type Wish } from './api.ts'
import { type Charge, type Terms, transactionOf } from './books.ts'
import { type HookData, sendHook } from './hooks.ts'
import { type Ending, type Hook, type HookKind, type Story, storyByNumber } from './stories.ts'

export type DeskOptions = Partial<Omit<Terms, 'domain'>> & {
  secretKey?: string
  webhookUrl?: string
  retryMs?: number // between tries of a webhook
}

export type Desk = ReturnType<typeof openDesk>

// Where charges are made and end, and where webhooks leave.
export function openDesk(options: DeskOptions) {
  const {
    secretKey = 'sk_test_simulated',
    promptMs = 180_000,
    pageMs = 1_800_000,
    retryMs = 180_000,
  } = options
  const terms: Terms = { promptMs, pageMs, domain: secretKey.startsWith('sk_live_') ? 'live' : 'test' }
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
      id: 3_000_000_000 + charges.size * 7 + Math.floor(Math.random() * 7),
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
    }
    charges.set(key, charge)
    return charge
  }

  // A no of a page may become a yes: its customer tries another card. Money that has moved stays, unless it goes back.
  function end(charge: Charge, ended: Ending, says: string) {
    const isPaid = charge.ended === 'success' || charge.ended === 'reversed'
    if (isPaid ? ended !== 'reversed' : charge.ended === 'failed' && charge.channel !== 'card') return
    Object.assign(charge, { ended, says, ended_at: isPaid ? charge.ended_at : Date.now() })
    if (ended === 'reversed') later(() => refund(charge, 'refund.processed'), 0)
    if (ended === 'success') for (const hook of charge.story.hooks ?? [{}]) announce(charge, hook)
  }

  function announce(charge: Charge, { kind = 'good', afterMs = 0 }: Hook) {
    if (kind !== 'early') later(() => hook(charge, kind), afterMs)
  }

  const toldOf = (charge: Charge) => ({ ...transactionOf(charge, terms, Date.now()), status: 'success' })
  const send = (event: string, data: HookData, kind?: HookKind) =>
    sendHook(hooks, event, data, { kind, later })
  const hook = (charge: Charge, kind: HookKind) => send('charge.success', toldOf(charge), kind)

  function refund({ reference, amount, currency }: Charge, event: string) {
    const status = event.split('.')[1]
    const what = {
      transaction_reference: reference,
      refund_reference: null,
      amount: String(amount),
      currency,
    }
    return send(event, { status, ...what, domain: terms.domain })
  }

  const dispute = (charge: Charge, event: string) =>
    send(event, {
      id: 358_950,
      refund_amount: charge.amount,
      currency: charge.currency,
      status: event.endsWith('resolve') ? 'resolved' : 'awaiting-merchant-feedback',
      transaction: toldOf(charge),
      transaction_reference: null,
      category: 'chargeback',
      due_at: new Date(Date.now() + 86_400_000).toISOString(),
    })

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

  return { secretKey, terms, hooks, charges, rules, make, end, play, hook, refund, dispute, close }
}
