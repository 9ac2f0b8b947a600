import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealAuditLog } from '../../../src/actions/access/auditSeal.ts'
import { sql } from '../../../src/store/db.ts'
import { everyRoute, nameOf, requestsTo } from '../../support/dashboard/everyRoute.ts'
import { filledPath } from '../../support/dashboard/filledForms.ts'
import { seedRows, type SeededRows, takePayment } from '../../support/dashboard/seedRows.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

// Every page of the dashboard, and every refused form, as a French user sees it, has no English text: none of the English
// halves of the text tables, and no sentence with several of the commonest English words.

let gateway: TestGateway
let rows: SeededRows
let taken: string
let requests: Awaited<ReturnType<typeof requestsTo>>
let owner: DashboardClient
let admin: DashboardClient
let english: (text: string) => boolean

beforeAll(async () => {
  gateway = await testGateway()
  rows = await seedRows(gateway)
  requests = await requestsTo(gateway)
  const { merchant_id } = rows.merchant
  owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, lang: 'fr', name: 'Akua' })
  admin = await signedIn(gateway, { operator: 'admin', lang: 'fr', name: 'Kofi' })
  taken = await takePayment(merchant_id, owner)
  english = await readTables()
})
afterAll(() => gateway.stop())

type Pair = { en: string; fr: string }

const folders = ['web/dashboard', 'core/access', 'core/timeline', 'core/notification', 'core/redaction'].map(
  folder => `src/${folder}`,
)

// The texts of all tables in both languages: { en, fr } at any depth, or [English, French].
async function readTables(): Promise<(text: string) => boolean> {
  const pairs: Pair[] = []
  const files = folders.flatMap(folder =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(({ name }) => /(?:Texts|keptReasons)\.ts$/.test(name))
      .map(({ parentPath, name }) => join(parentPath, name)),
  )
  for (const file of files) {
    const module = (await import(resolve(file))) as Record<string, unknown>
    for (const exported of Object.values(module)) collect(exported, pairs)
  }
  expect(pairs.length).toBeGreaterThan(800)
  const french = new Set(pairs.map(({ fr }) => fr))
  const patterns = pairs
    .filter(({ en, fr }) => en !== fr && !french.has(en) && /[a-z]{3}/.test(en))
    .map(({ en }) => en.split(/\{\w+\}/).map(part => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')))
    .filter(parts => parts.join('').replace(/\W/g, '').length > 3)
    .map(parts => parts.join('.+'))
  const all = new RegExp(`^(?:${[...new Set(patterns)].join('|')})$`, 's')
  return text => all.test(text) && !french.has(text)
}

function collect(value: unknown, pairs: Pair[]) {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const [en, fr] = value as unknown[]
    if (value.length === 2 && typeof en === 'string' && typeof fr === 'string') pairs.push({ en, fr })
    else for (const one of value) collect(one, pairs)
    return
  }
  if ('en' in value && 'fr' in value) pairUp(value.en, value.fr, pairs)
  else for (const one of Object.values(value)) collect(one, pairs)
}

function pairUp(en: unknown, fr: unknown, pairs: Pair[]) {
  if (typeof en === 'string' && typeof fr === 'string') pairs.push({ en, fr })
  else if (typeof en === 'object' && en !== null && typeof fr === 'object' && fr !== null)
    for (const [name, one] of Object.entries(en)) pairUp(one, (fr as Record<string, unknown>)[name], pairs)
}

const commonWords =
  /\b(?:the|is|are|was|were|has|have|with|your|you|this|that|these|not|and|for|from|of|by|to|be|been|will|it|its|an|no|or|on|in|as|at)\b/gi
const inFrench = new Set(['on', 'as', 'an', 'no', 'or', 'in', 'by', 'at', 'it', 'be'])

// Two different common words of English, of which one is not French too, make an English sentence.
function isEnglishSentence(text: string) {
  const words = new Set([...text.matchAll(commonWords)].map(([word]) => word.toLowerCase()))
  return words.size > 1 && [...words].some(word => !inFrench.has(word))
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const decoded = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')

// What a user sees or hears: text, and attributes that are read aloud.
function textsOf(html: string): string[] {
  const page = html
    .replace(/<(script|style|code|pre|kbd|samp)\b.*?<\/\1>/gs, '')
    .replace(/<(\w+)[^>]*\blang="en"[^>]*>.*?<\/\1>/gs, '')
  const texts = [...page.matchAll(/>([^<]+)/g)].map(([, text = '']) => text)
  const spoken = [...page.matchAll(/\b(?:aria-label|title|alt|placeholder|aria-description)="([^"]*)"/g)]
  return [...texts, ...spoken.map(([, text = '']) => text)]
    .map(text => decoded(text).replace(/\s+/g, ' ').trim())
    .filter(text => /[a-z]{2}/i.test(text))
}

// What people and providers wrote, or codes of the log, which stay as they are. The rows are those of seedRows().
const written = /The pot was broken|Test trigger: paid/
const allowed = new Set(['English', 'Tollgate', 'Ama Shop', 'awaiting_payment', 'cancelled'])

const englishIn = (html: string) => [
  ...new Set(
    textsOf(html).filter(
      text => !allowed.has(text) && !written.test(text) && (english(text) || isEnglishSentence(text)),
    ),
  ),
]

const parts = [
  { part: 'merchant', routes: everyRoute.merchant, user: () => owner },
  { part: 'operator', routes: everyRoute.operator, user: () => admin },
  { part: 'own', routes: everyRoute.own, user: () => owner },
] as const

for (const { part, routes, user } of parts)
  test(`${part}: every page and every refused form is in French`, { timeout: 60_000 }, async () => {
    const found: Record<string, string[]> = {}
    let pages = 0
    for (const method of ['get', 'post'] as const)
      for (const route of routes.filter(one => one.method === method)) {
        if (/sign-out|sessions|revoke|password\/remove/.test(route.path) && method === 'post') continue
        const answer = await requests.send(
          route,
          filledPath(part, route.path, rows, rows.merchant, taken),
          user(),
        )
        if (!answer.headers.get('content-type')?.startsWith('text/html')) continue
        const html = await answer.text()
        if (!html.includes('<html')) continue
        pages++
        const texts = [...(html.includes('<html lang="fr"') ? [] : ['(not in French)']), ...englishIn(html)]
        if (texts.length > 0) found[nameOf(part, route)] = texts
      }
    expect(found).toEqual({})
    expect(pages).toBeGreaterThan(3)
  })

test('a refused provider account, a broken seal and the last errors of an account are in French', async () => {
  const form = '/dashboard/operator/accounts/new'
  const faulty = async (provider: string, fields: Record<string, string>) => {
    const html = await admin.html(`${form}?provider=${provider}`)
    const account = /name="account" value="([\w-]+)"/.exec(html)?.[1] ?? ''
    const typed = { account, provider, mode: 'test', unchecked: 'on', ...fields }
    return (await admin.submit(`${form}?provider=${provider}`, form, typed)).text()
  }
  const paystack = await faulty('paystack', { setting_secret_key: 'wrong' })
  const egress = await faulty('paystack', { setting_secret_key: 'sk_test_1', setting_egress_address: 'x' })
  const missing = await faulty('mtn', {})
  await gateway.db.rows(sql`
    insert into provider_health (node, provider_account, payment_method, answered, late, unanswered, paid, declined,
      troubled, delays, breaker, unknown_codes, last_error, last_error_at, written_at)
    values ('n', 'sandbox', 'card', 0, 0, 1, 0, 0, 0, '{}', 'closed', '[]', 'no answer in time', now(), now())`)
  await sealAuditLog(gateway.db, new Date(Date.now() + 2 * 3_600_000))
  await gateway.db.rows(sql`alter table audit_entries disable trigger audit_entries_append_only`)
  await gateway.db.rows(sql`
    update audit_entries set subject = 'another' where entry_id = (select min(entry_id) from audit_entries)`)
  await gateway.db.rows(sql`alter table audit_entries enable trigger audit_entries_append_only`)
  const audit = '/dashboard/operator/audit'
  const pages = {
    paystack,
    egress,
    missing,
    account: await admin.html('/dashboard/operator/accounts/sandbox'),
    live: await admin.html('/dashboard/operator?mode=test'),
    seal: await (await admin.submit(audit, `${audit}/verify`)).text(),
  }
  expect(paystack).toContain('doit être une clé secrète')
  expect(egress).toContain('doit être une adresse IP')
  expect(missing).toContain('est obligatoire')
  expect(pages.account).toContain('pas de réponse à temps')
  expect(pages.seal).toContain('cette entrée a été modifiée')
  const found = Object.entries(pages).flatMap(([name, html]) => englishIn(html).map(text => [name, text]))
  expect(found).toEqual([])
})

test('the pages without a session are in French for a French browser', async () => {
  const found: Record<string, string[]> = {}
  for (const route of everyRoute.open.filter(({ method }) => method === 'get')) {
    const path = filledPath('open', route.path, rows, rows.merchant, taken)
    const answer = await fetch(gateway.url + path, {
      headers: { 'accept-language': 'fr', accept: 'text/html' },
      redirect: 'manual',
    })
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue
    const texts = englishIn(await answer.text())
    if (texts.length > 0) found[route.path] = texts
  }
  expect(found).toEqual({})
})
