import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Onboarded, onboard } from '../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { everyRoute } from '../support/dashboard/everyRoute.ts'
import { type DashboardClient, signedIn } from '../support/dashboard/signedIn.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { post, signedRequest } from '../support/merchant/merchant.ts'
import { random } from '../support/random.ts'

// kill -9 of a real gateway while users of the dashboard take payments, cancel them, change settings and rotate keys. After
// the restart they submit the same forms again, as a user does whose browser has shown an error. Each action happened once,
// and the audit log has one entry for it.

const rounds = 7
const longestMs = 60 // between the forms and the kill

const TOLLGATE_MASTER_KEY = randomBytes(32).toString('hex')
let database: FreshDatabase
let db: Db
let merchant: Onboarded
let gateway: GatewayProcess | undefined

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
  const masterKeys = givenMasterKeys([Buffer.from(TOLLGATE_MASTER_KEY, 'hex')])
  merchant = await onboard(db, masterKeys, 'Ama Shop', ['test'], new Date())
  await setMerchant(db, merchant.merchant_id, ['rate_limit=0'])
  await start()
}, 60_000)
afterAll(async () => {
  await gateway?.kill('SIGTERM')
  await db.end()
  await database.drop()
})

const start = async () =>
  (gateway = await spawnGateway({ DATABASE_URL: database.url, TOLLGATE_MASTER_KEY, LOG_LEVEL: 'error' }))

const url = () => gateway?.url ?? ''
const base = () => `/dashboard/m/${merchant.merchant_id}/test`

// A form as a browser submits it: its page, its address, its hidden fields, and what the user types.
type Form = { user: DashboardClient; action: string; fields: Record<string, string> }

const attribute = (tag: string, name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]

async function openForm(user: DashboardClient, page: string, action: string, typed = {}): Promise<Form> {
  const answer = await fetch(url() + page, { headers: { cookie: user.cookie, accept: 'text/html' } })
  const html = await answer.text()
  const form = html.match(/<form[\s\S]*?<\/form>/g)?.find(one => attribute(one, 'action') === action)
  if (!form) throw new Error(`${page} has no form for ${action}: ${answer.status}`)
  const inputs = (form.match(/<input[^>]*>/g) ?? []).map(tag => [
    attribute(tag, 'name') ?? '',
    (attribute(tag, 'value') ?? '').replaceAll('&amp;', '&'),
  ])
  return { user, action, fields: { ...Object.fromEntries(inputs), ...typed } }
}

// The status; undefined if the gateway died.
const submit = async ({ user, action, fields }: Form) => {
  const answer = await fetch(url() + action, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: user.cookie, accept: 'text/html', origin: url() },
    body: new URLSearchParams(fields),
  }).catch(() => undefined)
  return answer?.status
}

const newOwner = () =>
  signedIn({ db, url: url() }, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })

const has = (path: string) =>
  everyRoute.merchant.some(route => route.method === 'post' && route.path === path)

async function requestPayment() {
  const keys = merchant.test
  if (!keys) throw new Error('no test keys')
  return String((await post(url(), signedRequest(keys))).body.tx_reference)
}

async function openForms(round: number): Promise<Form[]> {
  const user = await newOwner()
  const [paid, other] = [await requestPayment(), await requestPayment()]
  const take = (total: string) => openForm(user, `${base()}/take`, `${base()}/take`, { total })
  const cancel = (reference: string) =>
    openForm(user, `${base()}/payments/${reference}`, `${base()}/payments/${reference}/cancel`)
  const settings = `${base()}/settings/branding`
  return Promise.all([
    take(`${round + 1}.01`),
    take(`${round + 1}.02`),
    cancel(paid),
    cancel(other),
    openForm(user, settings, settings, { support_phone: `+23324000000${round}` }),
    ...(has('/developers/rotate-key')
      ? [openForm(user, `${base()}/developers`, `${base()}/developers/rotate-key`)]
      : []),
  ])
}

const subjectsOf = async (action: string) =>
  (await db.rows<{ subject: string }>(sql`select subject from audit_entries where action = ${action}`))
    .map(({ subject }) => subject)
    .toSorted((a, b) => a.localeCompare(b))

const referencesOf = async (query: ReturnType<typeof sql>) =>
  (await db.rows<{ tx_reference: string }>(query))
    .map(({ tx_reference }) => tx_reference)
    .toSorted((a, b) => a.localeCompare(b))

// What was changed, and what the audit log says about it.
async function expectAgreement() {
  const { merchant_id } = merchant
  const cancelled = sql`select tx_reference from payments where merchant_id = ${merchant_id} and status = 'cancelled'`
  expect(await subjectsOf('payment.cancel')).toEqual(await referencesOf(cancelled))
  const taken = sql`
    select tx_reference from payments where merchant_id = ${merchant_id} and invoice_id like 'tollgate:%'`
  expect(await subjectsOf('payment.take')).toEqual(await referencesOf(taken))
  expect(await referencesOf(sql`select tx_reference from taken_payments`)).toEqual(await referencesOf(taken))
  const keys = await db.rows(sql`select 1 from merchant_keys where merchant_id = ${merchant_id}`)
  expect(keys.length).toBe(1 + (await subjectsOf('key.rotate')).length)
  const phones = await db.rows<{ phone: string }>(sql`
    select after->>'support_phone' as phone from audit_entries where action = 'settings.change' and after ? 'support_phone'
    order by entry_id`)
  const stored = await db.one<{ phone: string | null }>(sql`
    select settings->>'support_phone' as phone from merchants where merchant_id = ${merchant_id}`)
  expect(stored?.phone ?? null).toBe(phones.at(-1)?.phone ?? null)
  return {
    taken: (await referencesOf(taken)).length,
    cancelled: (await referencesOf(cancelled)).length,
    phones,
    keys,
  }
}

test('after kill -9 each action happened once or not at all, and after the same form again once', async () => {
  let unanswered = 0
  for (let round = 0; round < rounds; round++) {
    const forms = await openForms(round)
    const answers = forms.map(submit)
    await sleep(random() * longestMs)
    const dying = gateway
    await dying?.kill('SIGKILL')
    unanswered += (await Promise.all(answers)).filter(status => status === undefined).length
    await expectAgreement()
    await start()
    for (const form of forms) expect(await submit(form)).toBeLessThan(500)
    const { taken, cancelled, phones, keys } = await expectAgreement()
    expect({ taken, cancelled, phones: phones.length }).toEqual({
      taken: 2 * (round + 1),
      cancelled: 2 * (round + 1),
      phones: round + 1,
    })
    if (has('/developers/rotate-key')) expect(keys.length).toBe(round + 2)
  }
  expect(unanswered).toBeGreaterThan(0)
}, 120_000)
