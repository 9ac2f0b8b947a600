import type { Asked, Said } from '../frame.ts'
import type { Charge } from './books.ts'
import type { Desk } from './desk.ts'
import { cardDecisions, cardPage, dashboardPage, leadTo, phonePage } from './pages.ts'

// What people do: at Paystack's page, with the telephone in their hands, and at the dashboard of a business.
export async function visitPage(desks: readonly Desk[], { path, method, text }: Asked): Promise<Said> {
  const access_code = path.slice('/pay/'.length)
  const found = findCharge(desks, one => one.access_code === access_code)
  if (!found) return { status: 404, body: 'no such page' }
  const [desk, charge] = found
  if (method !== 'POST') return cardPage(charge)
  const decision = new URLSearchParams(text).get('decision') ?? ''
  const { cancel_action } = (charge.metadata ?? {}) as { cancel_action?: string }
  if (decision === 'leave') return leadTo(cancel_action ?? charge.callback_url ?? '/')
  payByCard(desk, charge, decision)
  return charge.ended === 'success' ? leadTo(wayBack(charge)) : cardPage(charge)
}

function findCharge(desks: readonly Desk[], fits: (charge: Charge) => boolean): [Desk, Charge] | undefined {
  for (const desk of desks)
    for (const charge of desk.charges.values()) if (fits(charge)) return [desk, charge]
  return undefined
}

export function payByCard(desk: Desk, charge: Charge, decision: string) {
  if (!Object.hasOwn(cardDecisions, decision)) return
  const { says } = cardDecisions[decision as keyof typeof cardDecisions]
  charge.card = { brand: 'visa', last4: '4081' }
  desk.end(charge, decision === 'pay' ? 'success' : 'failed', says)
}

function wayBack({ callback_url = 'http://127.0.0.1/', reference }: Charge): string {
  const to = new URL(callback_url)
  to.searchParams.set('trxref', reference)
  to.searchParams.set('reference', reference)
  return to.href
}

export function visitPhone(desks: readonly Desk[], { path, method, text }: Asked): Said {
  if (method !== 'POST') return phonePage(desks.flatMap(({ charges }) => [...charges.values()]))
  const reference = path.slice('/phone/'.length)
  const found = findCharge(desks, one => one.reference === reference)
  const isYes = new URLSearchParams(text).get('decision') === 'approve'
  if (found) (isYes ? approve : decline)(...found)
  return leadTo('/')
}

// The webhook address of a business, and what its owner or a bank does with a transaction that was paid.
export async function visitDashboard(desks: readonly Desk[], { method, text }: Asked): Promise<Said> {
  if (method !== 'POST') return dashboardPage(desks)
  const form = new URLSearchParams(text)
  const url = form.get('webhook_url')
  const owner = desks.find(({ secretKey }) => secretKey === form.get('secret_key'))
  if (owner && url !== null) owner.hooks.url = url || undefined
  const found = findCharge(desks, one => one.reference === form.get('reference'))
  if (found) await actOn(...found, form.get('decision') ?? '')
  return leadTo('/dashboard')
}

async function actOn(desk: Desk, charge: Charge, decision: string) {
  if (decision === 'refund') await desk.refund(charge)
  if (decision === 'refund_part') await desk.refund(charge, { amount: Math.ceil(charge.amount / 4) })
  if (decision === 'dispute') await desk.openDispute(charge)
  const hasOpen = charge.disputes.some(({ status }) => status !== 'resolved')
  if (hasOpen && (decision === 'win' || decision === 'lose'))
    await desk.resolveDispute(charge, decision === 'win')
}

// With all that was asked for.
export function approve(desk: Desk, charge: Charge) {
  if (charge.channel === 'card') payByCard(desk, charge, 'pay')
  else desk.end(charge, 'success', 'Approved')
}

export function decline(desk: Desk, charge: Charge, says?: string) {
  const usual = charge.channel === 'card' ? 'Declined' : 'Transaction declined by the customer'
  desk.end(charge, 'failed', says ?? usual)
}
