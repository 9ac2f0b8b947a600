import { gzipSync } from 'node:zlib'
import { sign } from '../support/merchant/merchant.ts'
import type { Operation } from './document.ts'
import type { Fields, Question, Spoiling } from './questions.ts'
import type { Asked } from './send.ts'
import type { Shop } from './shops.ts'

// What no schema can say: who asks, and how that is proved.
const ofPayments = /mobile_agents_v2$|^\/gateway(\/checkout)?$|^\/$/
const ofChecks = /status_chk$/
const ofFeeds = /events$/
const ofRequests = /^\/v1\/requests$/ // signed over all their fields
const ofRefunds = /^\/v1\/refunds/
const ofTests = /^\/v1\/test\//

export function asShop({ path }: Operation, question: Question, shop: Shop, signs: boolean): Question {
  const { merchant_key, secret_key } = shop
  const fields: Fields = { ...question.fields, merchant_key }
  if (ofFeeds.test(path)) return { ...question, fields, header: signs ? feedHeaders(fields, secret_key) : {} }
  if (ofRequests.test(path)) return { ...question, fields: allSigned(fields, secret_key, signs) }
  if (ofTests.test(path)) return { ...question, fields: withTime(fields, secret_key, signs) }
  if (ofRefunds.test(path)) {
    delete fields.secure_hash
    const names = ['amount', 'invoice_id', 'merchant_key', 'refund_id']
    const values: Fields = { ...question.path, ...fields }
    const text = names
      .filter(name => values[name] !== undefined)
      .map(name => `${name}=${spelled(values[name])}`)
      .join('&')
    return { ...question, fields: signs ? { ...fields, secure_hash: sign(secret_key, text) } : fields }
  }
  const names = ofPayments.test(path)
    ? ['invoice_id', 'merchant_key', 'total']
    : ['invoice_id', 'merchant_key']
  if (!ofPayments.test(path) && !ofChecks.test(path)) return question
  delete fields.secure_hash
  const text = names.map(name => `${name}=${spelled(fields[name])}`).join('&')
  return { ...question, fields: signs ? { ...fields, secure_hash: sign(secret_key, text) } : fields }
}

function allSigned(sent: Fields, secret_key: string, signs: boolean): Fields {
  const fields: Fields = { ...sent, time: Math.floor(Date.now() / 1000) }
  delete fields.secure_hash
  const text = Object.keys(fields)
    .filter(name => fields[name] !== undefined)
    .toSorted()
    .map(name => `${name}=${spelled(fields[name])}`)
    .join('&')
  return signs ? { ...fields, secure_hash: sign(secret_key, text) } : fields
}

function feedHeaders({ merchant_key, after, limit }: Fields, secret_key: string) {
  const t = Math.floor(Date.now() / 1000)
  const text = [t, merchant_key, after, limit].map(spelled).join('.')
  return { 'x-tollgate-signature': `t=${t},v1=${sign(secret_key, text)}` }
}

// Most requests have the time of now.
function withTime({ secure_hash: _any, ...sent }: Fields, secret_key: string, signs: boolean): Fields {
  const isOld = Number(sent.time) % 5 === 0
  const fields: Fields = isOld ? sent : { ...sent, time: String(Math.floor(Date.now() / 1000)) }
  const names = Object.keys(fields).filter(name => fields[name] !== null && fields[name] !== undefined)
  const text = names
    .toSorted()
    .map(name => `${name}=${spelled(fields[name])}`)
    .join('&')
  return signs ? { ...fields, secure_hash: sign(secret_key, text) } : fields
}

const spelled = (value: unknown) => (typeof value === 'number' ? JSON.stringify(value) : String(value ?? ''))

export function spoiled(question: Question, spoiling: Spoiling): Question {
  const names = Object.keys(question.fields)
  const name = 'which' in spoiling ? names[spoiling.which % names.length] : undefined
  const fields = { ...question.fields }
  if (spoiling.kind === 'left out' && name !== undefined) delete fields[name]
  if (spoiling.kind === 'replaced' && name !== undefined) fields[name] = spoiling.by
  if (spoiling.kind === 'added') fields[spoiling.name] = spoiling.value
  if (spoiling.kind === 'swollen') fields.padding = 'x'.repeat(spoiling.to)
  return { ...question, fields }
}

let asking = 0

// Everybody asks from an address of his own, so that nobody is slowed down for another's misses.
const newAddress = () => `10.${(++asking >> 16) & 255}.${(asking >> 8) & 255}.${asking & 255}`

export async function written(operation: Operation, question: Question, spoiling?: Spoiling): Promise<Asked> {
  const { path, method } = operation
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(question.path[name])))
  const headers: Record<string, string> = { 'x-forwarded-for': newAddress() }
  for (const [name, value] of Object.entries(question.header)) headers[name] = String(value)
  if (question.type === undefined) {
    const query = new URLSearchParams(pairsOf(question.fields, spoiling)).toString().slice(0, 20_000)
    return { method, address: query ? `${filled}?${query}` : filled, headers }
  }
  const { type, bytes } = await encoded(question.type, question.fields, spoiling)
  headers['content-type'] = type
  if (spoiling?.kind === 'sent as') headers['content-type'] = spoiling.type
  if (spoiling?.kind === 'broken off')
    return { method, address: filled, headers, body: bytes.subarray(spoiling.at) }
  if (spoiling?.kind !== 'compressed') return { method, address: filled, headers, body: bytes }
  return {
    method,
    address: filled,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: gzipSync(bytes),
  }
}

async function encoded(type: string, fields: Fields, spoiling?: Spoiling) {
  if (type === 'application/json') return { type, bytes: Buffer.from(jsonOf(fields, spoiling)) }
  const pairs = pairsOf(fields, spoiling)
  if (type !== 'multipart/form-data')
    return { type, bytes: Buffer.from(new URLSearchParams(pairs).toString()) }
  const form = new FormData()
  for (const [name, value] of pairs) form.append(name, value)
  const whole = new Response(form)
  return { type: whole.headers.get('content-type') ?? type, bytes: Buffer.from(await whole.arrayBuffer()) }
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function pairsOf(fields: Fields, spoiling?: Spoiling): [string, string][] {
  const pairs = Object.entries(fields).map(([name, value]): [string, string] => [name, asText(value) ?? ''])
  const again = spoiling?.kind === 'sent twice' ? pairs[spoiling.which % pairs.length] : undefined
  return again ? [...pairs, again] : pairs
}

function jsonOf(fields: Fields, spoiling?: Spoiling): string {
  const text = JSON.stringify(fields)
  const names = Object.keys(fields)
  if (spoiling?.kind !== 'sent twice' || names.length === 0) return text
  return `${text.slice(0, -1)},${JSON.stringify(names[spoiling.which % names.length])}:1}`
}
