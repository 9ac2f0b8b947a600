import type { SimulatorRequest, SimulatorReply } from '../simulator.ts'
import type { Charge } from './charges.ts'
import type { Business } from './business.ts'
import { cardDecisions, cardPage, dashboardPage, leadTo, phonePage } from './pages.ts'

// What people do on the HTML pages: the card page, the phone, and the dashboard of a business.
export async function visitPage(
  businesses: readonly Business[],
  { path, method, text }: SimulatorRequest,
): Promise<SimulatorReply> {
  const access_code = path.slice('/pay/'.length)
  const found = findCharge(businesses, one => one.access_code === access_code)
  if (!found) return { status: 404, body: 'no such page' }
  const [business, charge] = found
  if (method !== 'POST') return cardPage(charge)
  const decision = new URLSearchParams(text).get('decision') ?? ''
  const { cancel_action } = (charge.metadata ?? {}) as { cancel_action?: string }
  if (decision === 'leave') return leadTo(cancel_action ?? charge.callback_url ?? '/')
  payByCard(business, charge, decision)
  return charge.ended === 'success' ? leadTo(wayBack(charge)) : cardPage(charge)
}

function findCharge(
  businesses: readonly Business[],
  fits: (charge: Charge) => boolean,
): [Business, Charge] | undefined {
  for (const business of businesses)
    for (const charge of business.charges.values()) if (fits(charge)) return [business, charge]
  return undefined
}

export function payByCard(business: Business, charge: Charge, decision: string) {
  if (!Object.hasOwn(cardDecisions, decision)) return
  const { says } = cardDecisions[decision as keyof typeof cardDecisions]
  charge.card = { brand: 'visa', last4: '4081' }
  business.end(charge, decision === 'pay' ? 'success' : 'failed', says)
}

function wayBack({ callback_url = 'http://127.0.0.1/', reference }: Charge): string {
  const to = new URL(callback_url)
  to.searchParams.set('trxref', reference)
  to.searchParams.set('reference', reference)
  return to.href
}

export function visitPhone(
  businesses: readonly Business[],
  { path, method, text }: SimulatorRequest,
): SimulatorReply {
  if (method !== 'POST') return phonePage(businesses.flatMap(({ charges }) => [...charges.values()]))
  const reference = path.slice('/phone/'.length)
  const found = findCharge(businesses, one => one.reference === reference)
  const isYes = new URLSearchParams(text).get('decision') === 'approve'
  if (found) (isYes ? approve : decline)(...found)
  return leadTo('/')
}

// Sets the webhook address of a business; refunds and disputes paid transactions.
export async function visitDashboard(
  businesses: readonly Business[],
  { method, text }: SimulatorRequest,
): Promise<SimulatorReply> {
  if (method !== 'POST') return dashboardPage(businesses)
  const form = new URLSearchParams(text)
  const url = form.get('webhook_url')
  const owner = businesses.find(({ secretKey }) => secretKey === form.get('secret_key'))
  if (owner && url !== null) owner.hooks.url = url || undefined
  const found = findCharge(businesses, one => one.reference === form.get('reference'))
  if (found) await actOn(...found, form.get('decision') ?? '')
  return leadTo('/dashboard')
}

async function actOn(business: Business, charge: Charge, decision: string) {
  if (decision === 'refund') await business.refund(charge)
  if (decision === 'refund_part') await business.refund(charge, { amount: Math.ceil(charge.amount / 4) })
  if (decision === 'dispute') await business.openDispute(charge)
  const hasOpen = charge.disputes.some(({ status }) => status !== 'resolved')
  if (hasOpen && (decision === 'win' || decision === 'lose'))
    await business.resolveDispute(charge, decision === 'win')
}

// Pays the full amount.
export function approve(business: Business, charge: Charge) {
  if (charge.channel === 'card') payByCard(business, charge, 'pay')
  else business.end(charge, 'success', 'Approved')
}

export function decline(business: Business, charge: Charge, says?: string) {
  const usual = charge.channel === 'card' ? 'Declined' : 'Transaction declined by the customer'
  business.end(charge, 'failed', says ?? usual)
}
