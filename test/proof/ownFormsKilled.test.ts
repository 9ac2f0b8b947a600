import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { totpCode } from '../../src/core/access/secondFactor.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { softAuthenticator } from '../support/dashboard/authenticator.ts'
import { type FormBrowser, formBrowser } from '../support/dashboard/formBrowser.ts'
import { type DashboardClient, formTokenIn, signedIn } from '../support/dashboard/signedIn.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { freePort } from '../support/deploy/nginx.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { plainPng } from '../support/merchant/pictures.ts'
import { random } from '../support/random.ts'

// kill -9 while a person uploads a logo, sets up a second factor and adds a passkey. A code of the app and an answer of a
// passkey work once, so after the restart the person begins again from the page. Each happened once or not at all, and the
// audit log has one entry for it.

const rounds = 6
const longestMs = 250 // between the forms and the kill
const account = '/dashboard/account'
const secondFactor = `${account}/second-factor`

const TOLLGATE_MASTER_KEY = randomBytes(32).toString('hex')
const masterKeys = givenMasterKeys([Buffer.from(TOLLGATE_MASTER_KEY, 'hex')])
let database: FreshDatabase
let db: Db
let gateway: GatewayProcess
let port: number

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
  port = await freePort()
  await start()
}, 60_000)
afterAll(async () => {
  await gateway.kill('SIGTERM')
  await db.end()
  await database.drop()
})

// Browsers have passkeys for names, not for addresses.
const site = () => `http://localhost:${port}`
const start = async () =>
  (gateway = await spawnGateway({
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY,
    TOLLGATE_BASE_URL: site(),
    PORT: String(port),
    LOG_LEVEL: 'error',
  }))

type Form = {
  name: string
  submit(): Promise<Response>
  happened: ReturnType<typeof sql>
  entries: ReturnType<typeof sql>
}

const entriesBy = ({ user_id }: DashboardClient, action: string) =>
  sql`select 1 from audit_entries where actor_id = ${user_id} and action = ${action}`

async function owner() {
  const { merchant_id } = await onboard(db, masterKeys, 'Ama Shop', ['test'], new Date())
  const user = await signedIn({ db, url: gateway.url }, { member: { merchant_id, role: 'owner' } })
  const browser = formBrowser(gateway.url)
  const [name = '', value = ''] = user.cookie.split('=')
  browser.cookies.set(name, value)
  return { merchant_id, user, browser }
}

async function logoForm(): Promise<Form> {
  const { merchant_id, user } = await owner()
  const settings = `/dashboard/m/${merchant_id}/test/settings`
  const submit = async () => {
    const body = new FormData()
    body.set('form_token', formTokenIn(await user.html(`${settings}/branding`)))
    body.set('seen', '')
    body.set('logo', new Blob([new Uint8Array(plainPng())]), 'logo.png')
    const headers = { cookie: user.cookie, accept: 'text/html', origin: gateway.url }
    const to = `${gateway.url}${settings}/logo`
    return fetch(to, { method: 'POST', headers, body, redirect: 'manual' })
  }
  const happened = sql`select 1 from merchant_logos where merchant_id = ${merchant_id}`
  return { name: 'upload a logo', submit, happened, entries: entriesBy(user, 'logo.set') }
}

async function secondFactorForm(): Promise<Form> {
  const { user, browser } = await owner()
  const submit = async () => {
    const page = await (await browser.get(secondFactor)).text()
    const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(page)?.[1] ?? ''
    const code = secret && totpCode(secret, new Date())
    return browser.post(secondFactor, { secret, code, mark: 'none', form_token: formTokenIn(page) })
  }
  const happened = sql`select 1 from users where user_id = ${user.user_id} and sealed_totp is not null`
  const entries = entriesBy(user, 'user.second_factor_add')
  return { name: 'set up a second factor', submit, happened, entries }
}

async function passkeyForm(): Promise<Form> {
  const { user, browser } = await owner()
  const key = softAuthenticator(site())
  const submit = async () => {
    const credential = key.create(await challengeFor(browser))
    return browser.submit(account, `${account}/passkey-add`, { credential, name: 'Phone' })
  }
  const happened = sql`select 1 from passkeys where user_id = ${user.user_id}`
  return { name: 'add a passkey', submit, happened, entries: entriesBy(user, 'user.passkey_add') }
}

async function challengeFor(browser: FormBrowser): Promise<string> {
  const answer = await browser.submit(account, `${account}/passkey-options`)
  return ((await answer.json()) as { challenge: string }).challenge
}

const countsOf = (forms: readonly Form[]) =>
  Promise.all(
    forms.map(async ({ name, happened, entries }) => ({
      name,
      happened: (await db.rows(happened)).length,
      entries: (await db.rows(entries)).length,
    })),
  )

test('a logo, a second factor and a passkey are there once or not at all, and after another try once', async () => {
  for (let round = 0; round < rounds; round++) {
    const forms = [await logoForm(), await secondFactorForm(), await passkeyForm()]
    const answers = forms.map(({ submit }) => submit().catch(() => undefined))
    await sleep(random() * longestMs)
    await gateway.kill('SIGKILL')
    await Promise.all(answers)
    const killed = await countsOf(forms)
    for (const { name, happened, entries } of killed) {
      expect([name, entries]).toEqual([name, happened])
      expect([name, happened <= 1]).toEqual([name, true])
    }
    await start()
    for (const [at, { name, submit }] of forms.entries()) {
      if (killed[at]?.happened === 1) continue
      const { status } = await submit()
      expect([name, status > 0 && status < 400]).toEqual([name, true])
    }
    for (const { name, happened, entries } of await countsOf(forms))
      expect([name, happened, entries]).toEqual([name, 1, 1])
  }
}, 120_000)
