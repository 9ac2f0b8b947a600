import type { Dispute, Refund } from './moneyBack.ts'
import type { Ending, Story } from './stories.ts'

export type Charge = {
  id: number
  reference: string
  amount: number // in pesewas
  currency: string
  email: string
  channel: 'mobile_money' | 'card'
  phone?: string
  provider?: string
  metadata: unknown
  callback_url?: string
  access_code?: string
  story: Story
  asks: string // the status that asks the customer for something
  text: string
  tries: number // of codes
  made_at: number
  window_at: number // when the customer's time limit begins
  ended_at?: number
  ended?: Ending
  says: string
  card?: { brand: string; last4: string }
  declines: { says: string; at: number }[] // of cards on its page
  refunds: Refund[]
  disputes: Dispute[]
}

export type Terms = { promptMs: number; pageMs: number; domain: 'test' | 'live'; notFoundHttp: 400 | 404 }

const feeOf = (amount: number) => Math.round((amount * 195) / 10_000)

// The total that the customer was charged.
export function chargedOf({ amount, story: { paysAs, feeBearer } }: Charge): number {
  const asked = paysAs?.amount ?? amount
  return feeBearer === 'customer' ? asked + feeOf(asked) : asked
}

export const isOver = (charge: Charge, { promptMs, pageMs }: Terms, now: number) =>
  now - charge.window_at > (charge.channel === 'card' ? pageMs : promptMs)

// The status that verify returns: `ongoing` while the prompt is open, `abandoned` for a page that is not paid yet.
export function statusOf(charge: Charge, terms: Terms, now: number): string {
  const { ended, ended_at = 0, story } = charge
  if (ended && now - ended_at >= (story.lagMs ?? 0)) return ended
  if (charge.channel === 'card') return 'abandoned'
  return isOver(charge, terms, now) ? (story.unpaid ?? 'abandoned') : (story.meanwhile ?? 'ongoing')
}

// The transaction as verify, a finished charge and a webhook return it.
export function transactionOf(charge: Charge, terms: Terms, now: number) {
  const status = statusOf(charge, terms, now)
  const isPaid = status === 'success' || status === 'reversed'
  const { paysAs = {}, feeBearer } = charge.story
  const amount = isPaid ? chargedOf(charge) : charge.amount
  return {
    id: charge.id,
    domain: terms.domain,
    status,
    reference: (isPaid ? paysAs.reference : undefined) ?? charge.reference,
    receipt_number: null,
    amount,
    message: null,
    gateway_response: status === 'failed' && !charge.ended ? 'Transaction timed out' : charge.says,
    paid_at: isPaid ? new Date(charge.ended_at ?? now).toISOString() : null,
    created_at: new Date(charge.made_at).toISOString(),
    channel: charge.channel,
    currency: (isPaid ? paysAs.currency : undefined) ?? charge.currency,
    ip_address: '127.0.0.1',
    metadata: charge.metadata ?? '',
    log: logOf(charge),
    fees: isPaid ? feeOf(feeBearer ? (paysAs.amount ?? charge.amount) : amount) : null,
    fees_split: null,
    authorization: isPaid ? authorizationOf(charge) : {},
    customer: { id: 1, first_name: '', last_name: '', email: charge.email, customer_code: 'CUS_simulated' },
    plan: null,
    requested_amount: charge.amount,
  }
}

// The log of the page; times are seconds after its start.
function logOf({ channel, declines, made_at }: Charge) {
  if (channel !== 'card' || declines.length === 0) return null
  const start_time = Math.floor(made_at / 1000)
  const history = declines.flatMap(({ says, at }) => {
    const time = Math.ceil(at / 1000) - start_time
    return [
      { type: 'action', message: 'Attempted to pay with card', time },
      { type: 'error', message: `Error: ${says}`, time },
    ]
  })
  const attempts = declines.length
  return {
    start_time,
    time_spent: 1,
    attempts,
    errors: attempts,
    success: false,
    mobile: true,
    input: [],
    history,
  }
}

const authorizationOf = ({ card, provider }: Charge) => ({
  authorization_code: 'AUTH_simulated',
  bin: card ? '408408' : '055XXX',
  last4: card?.last4 ?? 'X987',
  channel: card ? 'card' : 'mobile_money',
  card_type: card ? `${card.brand} ` : '',
  brand: card?.brand ?? provider,
  country_code: 'GH',
  reusable: false,
})
