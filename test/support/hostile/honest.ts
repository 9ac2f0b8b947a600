import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Credentials } from '../../../src/actions/merchants/onboard.ts'
import { signedQuestion, signedRequest } from '../merchant/merchant.ts'
import type { Receiver } from '../merchant/receiver.ts'

const journeysPerSecond = 15
const maxUnderWay = 40 // on a busy machine, fewer begin
const answerMs = 60_000
const notifiedMs = 120_000
const slowMs = 1000 // a refusal because of an attack is faster
const maxTries = 5

const shopAddress = '127.0.0.1'
const customerAddress = (n: number) => `127.0.1.${1 + (n % 50)}`

// A form that was answered with an error may have started the payment.
export type Journey = { invoice_id: string; tx_reference?: string; form?: 'sent' | 'accepted' }

// What honest clients saw during a period. A request belongs to the period in which it was sent.
export type Stretch = {
  times: number[]
  faults: string[]
  repeated: number // requests, because the machine was busy
  journeys: Journey[]
  ended: Promise<void>[]
}

const newStretch = (): Stretch => ({ times: [], faults: [], repeated: 0, journeys: [], ended: [] })

type Asked = {
  agent: Agent | false
  from: string
  method?: string
  headers?: Record<string, string>
  body?: string
}
type Got = { http: number; text: string; location?: string }

export type HonestOptions = {
  port: number
  keys: Credentials
  receiver: Receiver
  sharedAddress: string
  isStarved(since: number): boolean // whether other processes used much of the CPU since then
}

// Shops and customers that pay at a steady rate until they are stopped. Every fourth shop has its server behind the same
// NAT as an attacker, and sends signed JSON from there.
export function startHonest({ port, keys, receiver, sharedAddress, isStarved }: HonestOptions) {
  const own = new Agent({ keepAlive: true, localAddress: shopAddress })
  const shared = new Agent({ keepAlive: true, localAddress: sharedAddress })
  const customers = Array.from({ length: 50 }, (_, n) => new Agent({ localAddress: customerAddress(n) }))
  const stretches = [newStretch()]
  let stretch = stretches[0] as Stretch
  const notified = new Set<string>() // references of payments whose shop was notified
  let underWay = 0
  let begun = 0
  let isOver = false

  receiver.answerWith((one, response) => {
    const { tx_reference, status } = JSON.parse(one.body)
    if (status === 'paid') notified.add(tx_reference)
    response.end('ok')
  })

  const whose = (address: string) =>
    address === sharedAddress ? 'the address of an attacker' : 'an address of its own'

  // A slow 503 is repeated if other processes used the CPU meanwhile: then the database is late because of them, not because
  // of the attack. The table shows how often.
  async function sendFrom(mine: Stretch, path: string, asked: Asked, tries = maxTries): Promise<Got> {
    const [began, since] = [performance.now(), Date.now()]
    const got = await send(port, path, asked).catch((error: Error) => ({ http: 0, text: error.message }))
    const tookMs = performance.now() - began
    mine.times.push(tookMs)
    const isStarvation = got.http === 503 && tookMs > slowMs && isStarved(since)
    if (!isStarvation || tries === 1) return got
    mine.repeated++
    return sendFrom(mine, path, asked, tries - 1)
  }

  async function ask(what: string, path: string, wanted: number, asked: Asked): Promise<Got> {
    const mine = stretch
    const got = await sendFrom(mine, path, asked)
    if (got.http === wanted) return got
    mine.faults.push(`${what} from ${whose(asked.from)}: ${got.http || 'no answer'}, ${reasonIn(got.text)}`)
    throw new Refused()
  }

  // One payment: requested, requested again, and its status checked. Every third one is paid by its customer.
  async function journey(n: number, mine: Stretch) {
    const isShared = n % 4 === 3
    const shop = isShared ? { agent: shared, from: sharedAddress } : { agent: own, from: shopAddress }
    const number = `024${1000 + (n % 9000)}000`
    const fields = { number, ipn_url: `${receiver.url}/ipn`, email: `customer${n}@mail.example` }
    const sent = signedRequest(keys, fields)
    const kept: Journey = { invoice_id: sent.invoice_id }
    mine.journeys.push(kept)
    const wrap = isShared ? asJson : (encodings[n % encodings.length] as Encoding)
    const post = { ...shop, method: 'POST', ...wrap(sent) }
    const created = JSON.parse((await ask('payment request', '/v1/mobile_agents_v2', 200, post)).text)
    kept.tx_reference = created.tx_reference
    const again = JSON.parse((await ask('safe retry', '/v1/mobile_agents_v2', 200, post)).text)
    if (again.tx_reference !== created.tx_reference) mine.faults.push('a safe retry found another payment')
    const question = new URLSearchParams(signedQuestion(keys, sent.invoice_id)).toString()
    const check = async () =>
      JSON.parse((await ask('status check', `/v1/gateway/json_status_chk?${question}`, 200, shop)).text)
    if ((await check()).status !== 'awaiting_payment') mine.faults.push('a new payment does not wait')
    if (n % 3 !== 0) return
    const customer = { agent: customers[n % customers.length] as Agent, from: customerAddress(n) }
    const headers = { accept: 'text/html' }
    const address = new URL(created.checkout_url).pathname
    const page = await ask('checkout page', address, 200, { ...customer, headers })
    const { action, body } = payForm(page.text)
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    // The headers that a browser sends with a form of the same page.
    const site = { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` }
    const form = { ...customer, method: 'POST', headers: { ...headers, ...type, ...site }, body }
    kept.form = 'sent'
    await ask('payment form', action, 303, form)
    kept.form = 'accepted'
    const until = performance.now() + notifiedMs
    while (!notified.has(created.tx_reference) && performance.now() < until) await sleep(20)
    if (!notified.has(created.tx_reference)) mine.faults.push('the shop was not notified')
    if ((await check()).status !== 'paid')
      mine.faults.push('a payment that its shop was notified of is not paid')
  }

  const begin = () => {
    if (isOver || underWay >= maxUnderWay) return
    underWay++
    const mine = stretch
    const ended = journey(begun++, mine)
      .catch((error: unknown) => {
        if (!(error instanceof Refused)) mine.faults.push(String(error))
      })
      .finally(() => void underWay--)
    mine.ended.push(ended)
  }
  const timer = setInterval(begin, 1000 / journeysPerSecond)

  return {
    // Starts a new period; what is sent from now on is counted separately.
    nextStretch(): Stretch {
      stretch = newStretch()
      stretches.push(stretch)
      return stretch
    },
    isNotified: ({ tx_reference = '' }: Journey) => notified.has(tx_reference),
    stretches: (): readonly Stretch[] => stretches,
    async stop() {
      isOver = true
      clearInterval(timer)
      await Promise.all(stretches.flatMap(({ ended }) => ended))
      for (const agent of [own, shared, ...customers]) agent.destroy()
    },
  }
}

class Refused extends Error {}

// The reason in an answer, without its variable parts.
const reasonIn = (text: string) =>
  /<title>([^<]*)/.exec(text)?.[1] ?? /"message":"([^"]*)"/.exec(text)?.[1] ?? text.slice(0, 200)

const send = (port: number, path: string, { agent, from, method, headers, body }: Asked) =>
  new Promise<Got>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, agent, localAddress: from, method, headers, timeout: answerMs },
      answer => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', chunk => (text += String(chunk)))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({ http: answer.statusCode ?? 0, text, location: answer.headers.location }),
        )
      },
    )
    sent.on('timeout', () => sent.destroy(new Error(`no answer for ${answerMs / 1000} s`)))
    sent.on('error', reject)
    sent.end(body)
  })

type Encoding = (fields: Record<string, unknown>) => { headers: Record<string, string>; body: string }

const asJson: Encoding = fields => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(fields),
})
const asForm: Encoding = fields => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields as Record<string, string>).toString(),
})
const asMultipart: Encoding = fields => {
  const boundary = '----shop7MA4YWxkTrZu0gW'
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
  )
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: `${parts.join('')}--${boundary}--\r\n`,
  }
}
const encodings: readonly Encoding[] = [asJson, asForm, asMultipart, asJson, asJson]

// The payment form as a browser submits it without changes: the number of the request is filled in.
function payForm(html: string) {
  for (const [whole, opening = ''] of html.matchAll(/(<form[^>]*>).*?<\/form>/gs)) {
    const action = attribute(opening, 'action') ?? ''
    if (!action.split('?')[0]?.endsWith('/pay')) continue
    const inputs = (whole.match(/<input\s[^>]*>/g) ?? []).filter(
      tag =>
        !/^(radio|checkbox)$/.test(attribute(tag, 'type') ?? '') || attribute(tag, 'checked') !== undefined,
    )
    const pairs = inputs.map(
      tag => [attribute(tag, 'name') ?? '', attribute(tag, 'value') ?? ''] as [string, string],
    )
    return { action, body: new URLSearchParams(pairs).toString() }
  }
  throw new Error(`the page has no form to pay: ${html.slice(0, 500)}`)
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}(?:="([^"]*)")?(?=[\\s/>])`).exec(tag)
  return found
    ? (found[1] ?? '').replace(/&(amp|lt|gt|quot|#39);/g, (_, word: string) => entities[word] ?? '')
    : undefined
}
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
