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
  asks: string // what the customer is wanted for
  text: string
  tries: number // of codes
  made_at: number
  window_at: number // from when the customer has time
  ended_at?: number
  ended?: Ending
  says: string
  card?: { brand: string; last4: string }
}

export type Terms = { promptMs: number; pageMs: number; domain: 'test' | 'live' }

const feeOf = (amount: number) => Math.round((amount * 195) / 10_000)

export const isOver = (charge: Charge, { promptMs, pageMs }: Terms, now: number) =>
  now - charge.window_at > (charge.channel === 'card' ? pageMs : promptMs)

// What verify says of it: `ongoing` while the prompt is open, `abandoned` of a page that nobody has paid yet.
export function statusOf(charge: Charge, terms: Terms, now: number): string {
  const { ended, ended_at = 0, story } = charge
  if (ended && now - ended_at >= (story.lagMs ?? 0)) return ended
  if (charge.channel === 'card') return 'abandoned'
  return isOver(charge, terms, now) ? (story.unpaid ?? 'abandoned') : 'ongoing'
}

// The transaction, as verify, a finished charge and a webhook show it.
export function transactionOf(charge: Charge, terms: Terms, now: number) {
  const status = statusOf(charge, terms, now)
  const isPaid = status === 'success' || status === 'reversed'
  const { paysAs = {} } = charge.story
  const amount = (isPaid ? paysAs.amount : undefined) ?? charge.amount
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
    log: null,
    fees: isPaid ? feeOf(amount) : null,
    fees_split: null,
    authorization: isPaid ? authorizationOf(charge) : {},
    customer: { id: 1, first_name: '', last_name: '', email: charge.email, customer_code: 'CUS_simulated' },
    plan: null,
    requested_amount: charge.amount,
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
