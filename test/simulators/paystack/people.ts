import type { Asked, Said } from '../frame.ts'
import type { Charge } from './books.ts'
import type { Desk } from './desk.ts'
import { cardDecisions, cardPage, leadTo, phonePage } from './pages.ts'

// What people do: at Paystack's page, and with the telephone in their hands.
export async function visitPage(desk: Desk, { path, method, text }: Asked): Promise<Said> {
  const access_code = path.slice('/pay/'.length)
  const charge = [...desk.charges.values()].find(one => one.access_code === access_code)
  if (!charge) return { status: 404, body: 'no such page' }
  if (method !== 'POST') return cardPage(charge)
  const decision = new URLSearchParams(text).get('decision') ?? ''
  const { cancel_action } = (charge.metadata ?? {}) as { cancel_action?: string }
  if (decision === 'leave') return leadTo(cancel_action ?? charge.callback_url ?? '/')
  payByCard(desk, charge, decision)
  return charge.ended === 'success' ? leadTo(wayBack(charge)) : cardPage(charge)
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

export function visitPhone(desk: Desk, { path, method, text }: Asked): Said {
  if (method !== 'POST') return phonePage([...desk.charges.values()])
  const charge = desk.charges.get(path.slice('/phone/'.length))
  const isYes = new URLSearchParams(text).get('decision') === 'approve'
  if (charge) (isYes ? approve : decline)(desk, charge)
  return leadTo('/')
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
