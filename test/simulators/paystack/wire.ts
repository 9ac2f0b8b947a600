import { setTimeout as sleep } from 'node:timers/promises'
import type { Asked, Said, Trouble } from '../frame.ts'
import { bad, chargeOf, faultOf, good, notFound, refusedKey, submitted, type Wish } from './api.ts'
import { type Charge, transactionOf } from './books.ts'
import type { Desk } from './desk.ts'

// What Paystack answers at its address to programs.
export async function answerProgram(desk: Desk, asked: Asked, ourUrl: string): Promise<Said | Trouble> {
  const { method, path } = asked
  const last = decodeURIComponent(path.split('/').at(-1) ?? '')
  const refused = refusedKey(asked, desk.secretKey)
  if (refused) return refused
  if (method === 'POST' && path === '/charge') return charged(desk, asked)
  if (method === 'POST' && path === '/transaction/initialize') return initialized(desk, asked, ourUrl)
  if (method === 'POST' && /^\/charge\/submit_(otp|birthday|phone)$/.test(path)) return submit(desk, asked)
  if (method === 'GET' && path.startsWith('/transaction/verify/')) return verified(desk, last)
  if (method === 'GET' && path.startsWith('/charge/')) return pending(desk, last)
  if (method === 'GET' && path === '/balance')
    return good('Balances retrieved', [{ currency: 'GHS', balance: 0 }])
  return { status: 404, body: { status: false, message: `Cannot ${method} ${path}` } }
}

async function charged(desk: Desk, { text }: Asked): Promise<Said | Trouble> {
  const wish = JSON.parse(text) as Wish
  if (!wish.mobile_money) return bad(400, 'Please specify a payment channel')
  const fault = faultOf(wish)
  if (fault) return fault
  if (desk.charges.has(String(wish.reference))) return bad(400, 'Duplicate charge request for reference')
  const charge = desk.make(wish, 'mobile_money')
  await desk.play(charge)
  return answered(charge, chargeOf(charge, desk.terms, Date.now()))
}

async function initialized(desk: Desk, { text }: Asked, ourUrl: string): Promise<Said | Trouble> {
  const wish = JSON.parse(text) as Wish
  const fault = faultOf({ ...wish, mobile_money: undefined })
  if (fault) return fault
  if (desk.charges.has(String(wish.reference))) return bad(400, 'Duplicate Transaction Reference')
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
  if (!charge) return notFound()
  const said = submitted(charge, typed[field], desk.terms, Date.now())
  if (said.status === 200) await desk.play(charge)
  return said
}

function verified({ charges, terms }: Desk, reference: string): Said {
  const charge = charges.get(reference)
  if (!charge || Date.now() - charge.made_at < (charge.story.hiddenMs ?? 0)) return notFound()
  return good('Verification successful', transactionOf(charge, terms, Date.now()))
}

function pending({ charges, terms }: Desk, reference: string): Said {
  const charge = charges.get(reference)
  return charge ? chargeOf(charge, terms, Date.now()) : notFound()
}
