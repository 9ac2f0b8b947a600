import { setTimeout as sleep } from 'node:timers/promises'
import type { SimulatorRequest, SimulatorReply, Trouble } from '../simulator.ts'
import { bad, chargeOf, duplicate, faultOf, good, notFound, submitted, type ChargeRequest } from './api.ts'
import { type Charge, transactionOf } from './charges.ts'
import { type Business, refundableOf } from './business.ts'
import { disputesOfTransaction, fetchDispute, fetchRefund, listRefunds, refundOf } from './moneyBack.ts'

// Paystack's API, for the business whose key the request has.
export async function answerProgram(
  business: Business,
  asked: SimulatorRequest,
  ourUrl: string,
): Promise<SimulatorReply | Trouble> {
  const { method, path } = asked
  const last = decodeURIComponent(path.split('/').at(-1) ?? '')
  if (method === 'POST' && path === '/charge') return charged(business, asked)
  if (method === 'POST' && path === '/transaction/initialize') return initialized(business, asked, ourUrl)
  if (method === 'POST' && /^\/charge\/submit_(otp|birthday|phone)$/.test(path))
    return submit(business, asked)
  if (method === 'POST' && path === '/refund') return refund(business, asked)
  if (method !== 'GET') return noRoute(asked)
  if (path.startsWith('/transaction/verify/')) return verified(business, last)
  if (path.startsWith('/charge/')) return pending(business, last)
  if (/^\/refund(\/|$)/.test(path)) return readRefunds(business, asked)
  if (path.startsWith('/dispute/transaction/')) return disputesOfTransaction(business, last)
  if (path.startsWith('/dispute/')) return fetchDispute(business, last)
  if (path === '/balance') return good('Balances retrieved', [{ currency: 'GHS', balance: 0 }])
  return noRoute(asked)
}

const noRoute = ({ method, path }: SimulatorRequest): SimulatorReply => ({
  status: 404,
  body: { status: false, message: `Cannot ${method} ${path}` },
})

async function charged(business: Business, { text }: SimulatorRequest): Promise<SimulatorReply | Trouble> {
  const request = JSON.parse(text) as ChargeRequest
  if (!request.mobile_money) return bad(400, 'Please specify a payment channel')
  const fault = faultOf(request)
  if (fault) return fault
  if (business.charges.has(String(request.reference)))
    return duplicate('Duplicate charge request for reference')
  const charge = business.make(request, 'mobile_money')
  await business.play(charge)
  return answered(charge, chargeOf(charge, business.terms, Date.now()))
}

async function initialized(
  business: Business,
  { text }: SimulatorRequest,
  ourUrl: string,
): Promise<SimulatorReply | Trouble> {
  const request = JSON.parse(text) as ChargeRequest
  const fault = faultOf({ ...request, mobile_money: undefined })
  if (fault) return fault
  if (business.charges.has(String(request.reference))) return duplicate('Duplicate Transaction Reference')
  const charge = business.make(request, 'card')
  const access_code = `page${charge.id}`
  charge.access_code = access_code
  await business.play(charge)
  const authorization_url = `${ourUrl}/pay/${access_code}`
  const { reference } = charge
  return answered(charge, good('Authorization URL created', { authorization_url, access_code, reference }))
}

async function answered({ story }: Charge, said: SimulatorReply): Promise<SimulatorReply | Trouble> {
  await sleep(story.delayMs ?? 0)
  return story.lost ?? said
}

async function submit(business: Business, { text, path }: SimulatorRequest): Promise<SimulatorReply> {
  const { reference, ...typed } = JSON.parse(text) as Record<string, unknown>
  const charge = business.charges.get(String(reference))
  const [, field = ''] = /submit_(\w+)$/.exec(path) ?? []
  if (!charge) return notFound(business.terms)
  const said = submitted(charge, typed[field], business.terms, Date.now())
  if (said.status === 200) await business.play(charge)
  return said
}

// POST /refund: by the transaction's id or reference, of the whole amount or a part. The webhook arrives before the answer.
async function refund(business: Business, { text }: SimulatorRequest): Promise<SimulatorReply | Trouble> {
  const { transaction, amount, merchant_note } = JSON.parse(text) as Record<string, unknown>
  const named = String(transaction)
  const charge =
    business.charges.get(named) ?? [...business.charges.values()].find(({ id }) => String(id) === named)
  if (charge?.ended === 'reversed') return bad(400, 'Transaction has been fully reversed')
  if (charge?.ended !== 'success') return notFound(business.terms)
  const left = refundableOf(charge)
  const requested = amount === undefined ? left : Number(amount)
  const story = business.refundRules.storyOf({ key: charge.reference, amount: String(requested) }) ?? {}
  if (story.refuses) return story.refuses
  if (requested > left || requested <= 0)
    return bad(400, 'Refund amount cannot be more than the amount left to refund')
  if (story.isMade === false) return story.lost ?? 'silence'
  const note = typeof merchant_note === 'string' ? merchant_note : undefined
  const made = { amount: story.amount ?? requested, status: story.first ?? 'pending', note, story } as const
  let id = 0
  for (let times = 0; times < (story.times ?? 1); times++) id = (await business.refund(charge, made)).id
  const one = charge.refunds.find(refunded => refunded.id === id)
  if (!one) return notFound(business.terms)
  const { reference, currency } = charge
  const data = {
    ...refundOf(charge, one, business.terms),
    transaction: { id: charge.id, reference, currency },
  }
  return story.lost ?? good('Refund has been queued for processing', data)
}

// The refunds may end by being read.
async function readRefunds(business: Business, { path, query }: SimulatorRequest): Promise<SimulatorReply> {
  const id = path.slice('/refund/'.length)
  for (const charge of business.charges.values()) {
    const isAsked =
      id === ''
        ? query.get('transaction') === String(charge.id)
        : charge.refunds.some(one => String(one.id) === id)
    if (isAsked) await business.countRead(charge)
  }
  return id === '' ? listRefunds(business, query) : fetchRefund(business, id)
}

function verified({ charges, terms }: Business, reference: string): SimulatorReply {
  const charge = charges.get(reference)
  if (!charge || Date.now() - charge.made_at < (charge.story.hiddenMs ?? 0)) return notFound(terms)
  return good('Verification successful', transactionOf(charge, terms, Date.now()))
}

function pending({ charges, terms }: Business, reference: string): SimulatorReply {
  const charge = charges.get(reference)
  return charge ? chargeOf(charge, terms, Date.now()) : notFound(terms)
}
