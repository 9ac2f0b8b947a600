import { setTimeout as sleep } from 'node:timers/promises'
import type { Asked, Said, Trouble } from '../frame.ts'
import { bad, chargeOf, duplicate, faultOf, good, notFound, submitted, type Wish } from './api.ts'
import { type Charge, transactionOf } from './books.ts'
import type { Desk } from './desk.ts'
import { disputesOfTransaction, fetchDispute, fetchRefund, listRefunds, refundOf } from './moneyBack.ts'

// What Paystack answers at its address to programs, for the business whose key the request has.
export async function answerProgram(desk: Desk, asked: Asked, ourUrl: string): Promise<Said | Trouble> {
  const { method, path } = asked
  const last = decodeURIComponent(path.split('/').at(-1) ?? '')
  if (method === 'POST' && path === '/charge') return charged(desk, asked)
  if (method === 'POST' && path === '/transaction/initialize') return initialized(desk, asked, ourUrl)
  if (method === 'POST' && /^\/charge\/submit_(otp|birthday|phone)$/.test(path)) return submit(desk, asked)
  if (method === 'POST' && path === '/refund') return refund(desk, asked)
  if (method !== 'GET') return noRoute(asked)
  if (path.startsWith('/transaction/verify/')) return verified(desk, last)
  if (path.startsWith('/charge/')) return pending(desk, last)
  if (path === '/refund') return listRefunds(desk, asked.query)
  if (path.startsWith('/refund/')) return fetchRefund(desk, last)
  if (path.startsWith('/dispute/transaction/')) return disputesOfTransaction(desk, last)
  if (path.startsWith('/dispute/')) return fetchDispute(desk, last)
  if (path === '/balance') return good('Balances retrieved', [{ currency: 'GHS', balance: 0 }])
  return noRoute(asked)
}

const noRoute = ({ method, path }: Asked): Said => ({
  status: 404,
  body: { status: false, message: `Cannot ${method} ${path}` },
})

async function charged(desk: Desk, { text }: Asked): Promise<Said | Trouble> {
  const wish = JSON.parse(text) as Wish
  if (!wish.mobile_money) return bad(400, 'Please specify a payment channel')
  const fault = faultOf(wish)
  if (fault) return fault
  if (desk.charges.has(String(wish.reference))) return duplicate('Duplicate charge request for reference')
  const charge = desk.make(wish, 'mobile_money')
  await desk.play(charge)
  return answered(charge, chargeOf(charge, desk.terms, Date.now()))
}

async function initialized(desk: Desk, { text }: Asked, ourUrl: string): Promise<Said | Trouble> {
  const wish = JSON.parse(text) as Wish
  const fault = faultOf({ ...wish, mobile_money: undefined })
  if (fault) return fault
  if (desk.charges.has(String(wish.reference))) return duplicate('Duplicate Transaction Reference')
  const charge = desk.make(wish, 'card')
  const access_code = `page${charge.id}`
  charge.access_code = access_code
  await desk.play(charge)
  const authorization_url = `${ourUrl}/pay/${access_code}`
  const { reference } = charge
  return answered(charge, good('Authorization URL created', { authorization_url, access_code, reference }))
}

async function answered({ story }: Charge, said: Said): Promise<Said | Trouble> {
  await sleep(story.delayMs ?? 0)
  return story.lost ?? said
}

async function submit(desk: Desk, { text, path }: Asked): Promise<Said> {
  const { reference, ...typed } = JSON.parse(text) as Record<string, unknown>
  const charge = desk.charges.get(String(reference))
  const [, field = ''] = /submit_(\w+)$/.exec(path) ?? []
  if (!charge) return notFound(desk.terms)
  const said = submitted(charge, typed[field], desk.terms, Date.now())
  if (said.status === 200) await desk.play(charge)
  return said
}

// POST /refund: by the transaction's id or reference, of the whole amount or a part.
async function refund(desk: Desk, { text }: Asked): Promise<Said> {
  const { transaction, amount } = JSON.parse(text) as { transaction?: unknown; amount?: unknown }
  const named = String(transaction)
  const charge = desk.charges.get(named) ?? [...desk.charges.values()].find(({ id }) => String(id) === named)
  if (charge?.ended !== 'success') return notFound(desk.terms)
  const wish = amount === undefined ? {} : { amount: Number(amount) }
  const { id } = await desk.refund(charge, { ...wish, status: 'pending' })
  const made = charge.refunds.find(one => one.id === id)
  if (!made) return notFound(desk.terms)
  const { reference, currency } = charge
  const data = { ...refundOf(charge, made, desk.terms), transaction: { id: charge.id, reference, currency } }
  return good('Refund has been queued for processing', data)
}

function verified({ charges, terms }: Desk, reference: string): Said {
  const charge = charges.get(reference)
  if (!charge || Date.now() - charge.made_at < (charge.story.hiddenMs ?? 0)) return notFound(terms)
  return good('Verification successful', transactionOf(charge, terms, Date.now()))
}

function pending({ charges, terms }: Desk, reference: string): Said {
  const charge = charges.get(reference)
  return charge ? chargeOf(charge, terms, Date.now()) : notFound(terms)
}
