import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, sql } from '../../../src/store/db.ts'
import { type Answer, post, send, signedRequest } from '../merchant/merchant.ts'
import { random } from '../random.ts'
import { code, type SimulatedProvider, type SimulatedProviders } from './simulatedProviders.ts'
import { postForm, wallet } from '../checkout/stages.ts'

// A customer who pays at any running gateway, and the last stage that the page showed.
export type Customer = {
  provider: SimulatedProvider
  phone: string
  tx_token: string
  typed: number // submitted codes
  stage: string
}

let people = 0

// The shop requests a payment, and repeats the request until it is answered.
export async function newCustomer(
  provider: SimulatedProvider,
  url: () => string | undefined,
): Promise<Customer> {
  const request = signedRequest(provider.shop, { email: 'ama@example.test' })
  for (;;) {
    const answer = await ask(url, at => post(at, request))
    const phone = `024${7_391_000 + ++people}`
    if (answer)
      return { provider, phone, tx_token: answer.body.tx_token as string, typed: 0, stage: 'choose' }
    await sleep(30)
  }
}

// Undefined if the gateway died or was not ready.
async function ask(url: () => string | undefined, work: (at: string) => Promise<Answer>) {
  const at = url()
  const answer = at ? await work(at).catch(() => undefined) : undefined
  return answer && answer.http < 500 ? answer : undefined
}

export type Seen = { stage: string; attempts: number; submits: number }

export async function look(customer: Customer, url: () => string | undefined): Promise<Seen | undefined> {
  const state = await ask(url, at => send(`${at}/checkout/${customer.tx_token}/state`))
  if (typeof state?.body.stage !== 'string') return undefined
  const { stage, version } = state.body as { stage: string; version: string }
  const [, attempts = '0'] = /^\w+-(\d+)-/.exec(version) ?? []
  const [, submits = '0'] = /-otp(\d+)/.exec(version) ?? []
  customer.stage = stage
  return { stage, attempts: Number(attempts), submits: Number(submits) }
}

export const sendPay = (customer: Customer, url: () => string | undefined, number: number) =>
  ask(url, at =>
    postForm(`${at}/checkout/${customer.tx_token}/pay`, {
      number: String(number),
      ...wallet(customer.phone),
    }),
  )

export async function sendCode(
  customer: Customer,
  url: () => string | undefined,
  { attempts, submits }: Seen,
) {
  customer.typed++
  const form = { number: String(attempts), submits: String(submits), otp: code }
  const answer = await ask(url, at => postForm(`${at}/checkout/${customer.tx_token}/step`, form))
  if (answer?.http === 429) customer.typed-- // too soon: it is submitted again
  return answer
}

export const attemptOf = (db: Db, { tx_token }: Customer) =>
  db.one<{ attempt_id: string; state: string; submits: number; idempotency_key: string | null }>(sql`
    select attempt_id, state, submits, idempotency_key from attempts join payments using (merchant_id, tx_reference)
    where tx_token = ${tx_token} order by attempts.number desc limit 1`)

const patienceMs = 180_000

// Does what the page asks for, until the payment is paid or `until` returns true.
export async function keepPaying(
  db: Db,
  customer: Customer,
  url: () => string | undefined,
  until: (seen: Seen) => boolean = ({ stage }) => stage === 'paid',
  { declines = 0 } = {}, // the share of prompts
): Promise<void> {
  const since = Date.now()
  for (;;) {
    const seen = await look(customer, url)
    if (seen && until(seen)) return
    if (Date.now() - since > patienceMs) throw new Error(await whereabouts(db, customer))
    if (seen?.stage === 'choose' || seen?.stage === 'failed') await sendPay(customer, url, seen.attempts + 1)
    else if (seen?.stage === 'step') await sendCode(customer, url, seen)
    else if (seen?.stage === 'wait') await decide(db, customer, declines)
    await sleep(60)
  }
}

// The state of a customer who makes no progress, for the error message.
async function whereabouts(db: Db, customer: Customer): Promise<string> {
  const attempt = await db.one<{ attempt_id: string }>(sql`
    select a.attempt_id, a.state, a.sends, a.polls, a.submits, a.resent_at, a.acknowledged_at, a.next_poll_at, a.lease_until,
      a.created_at, now() from attempts a join payments using (merchant_id, tx_reference)
    where tx_token = ${customer.tx_token} order by a.number desc limit 1`)
  const entry = customer.provider.entries().find(({ reference }) => reference === attempt?.attempt_id)
  return `${customer.provider.name} came to ${customer.stage}: ${JSON.stringify({ attempt, truth: entry?.truth })}`
}

async function decide(db: Db, customer: Customer, declines: number) {
  const { provider } = customer
  const attempt = await attemptOf(db, customer)
  if (!attempt || !provider.isAsked(attempt.attempt_id)) return
  await (random() < declines ? provider.decline : provider.approve)(attempt.attempt_id)
}

// An order that a killed gateway stored and did not send is not sent after a minute. It fails when the provider has not
// shown it for a quarter of an hour. This makes such attempts older, so that a test need not wait.
export async function ageUnsentAttempts({ db, providers }: Pick<SimulatedProviders, 'db' | 'providers'>) {
  const taken = providers.flatMap(provider => provider.entries().map(({ reference }) => reference))
  await db.rows(sql`
    update attempts set created_at = created_at - interval '30 minutes', next_poll_at = now()
    where state in ('started', 'unknown', 'not_sent') and not attempt_id = any(${taken})
      and created_at between now() - interval '5 minutes' and now() - interval '62 seconds'
      and updated_at < now() - interval '15 seconds'`)
}
