import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { hash } from '@node-rs/argon2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newUserId } from '../../../src/runtime/ids.ts'
import { addUser } from '../../../src/store/access/users.ts'
import { sql } from '../../../src/store/db.ts'
import { softAuthenticator } from '../../support/dashboard/authenticator.ts'
import { type FormBrowser, formBrowser } from '../../support/dashboard/formBrowser.ts'
import { formTokenIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

const password = 'four words that differ'
const email = 'ama@example.com'
const user_id = newUserId()
let gateway: TestGateway
let site: string
beforeAll(async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  site = `http://localhost:${port}` // browsers have passkeys for names, not for addresses
  gateway = await testGateway({ PORT: String(port), TOLLGATE_BASE_URL: site })
  await addUser(gateway.db, {
    user_id,
    email,
    name: 'Ama',
    lang: 'en',
    password_hash: await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
    operator_role: null,
    sealed_totp: Buffer.from('set up'), // a passkey replaces the code, too
    totp_step: null,
    active: true,
    created_at: new Date(),
    signed_in_at: null,
  })
})
afterAll(() => gateway.stop())

const account = '/dashboard/account'
const signInPage = '/dashboard/sign-in'

async function challengeFor(browser: FormBrowser, page: string, path: string): Promise<string> {
  const answer = await browser.submit(page, path)
  return ((await answer.json()) as { challenge: string }).challenge
}
const ask = (browser: FormBrowser) => challengeFor(browser, signInPage, '/dashboard/passkey-options')
const present = async (browser: FormBrowser, credential: string) =>
  (await browser.submit(signInPage, '/dashboard/passkey', { credential, next: account })).status

test('a passkey is registered once confirmed, signs in without password and code, and each answer works once', async () => {
  const key = softAuthenticator(site)
  const owner = formBrowser(gateway.url)
  await gateway.db.rows(sql`update users set sealed_totp = null where user_id = ${user_id}`)
  await owner.signIn(email, password)
  await gateway.db.rows(sql`update users set sealed_totp = '\\x00' where user_id = ${user_id}`)
  const options = `${account}/passkey-options`
  const foreign = await challengeFor(formBrowser(gateway.url), signInPage, '/dashboard/passkey-options')
  const add = (credential: string) =>
    owner.submit(account, `${account}/passkey-add`, { credential, name: '<b>Phone</b>' })
  await challengeFor(owner, account, options)
  expect((await add(key.create(foreign))).headers.get('location')).toContain('passkey=failed')
  const credential = key.create(await challengeFor(owner, account, options))
  expect((await add(credential)).headers.get('location')).toBe(`${account}?done=passkey`)
  expect(await (await owner.get(account)).text()).toContain('&lt;b&gt;Phone&lt;/b&gt;')

  const browser = formBrowser(gateway.url)
  const answer = key.get(await ask(browser), 1)
  const stolen = formBrowser(gateway.url)
  await ask(stolen)
  expect(await present(stolen, answer)).toBe(401) // the challenge of another browser
  const copy = new Map(browser.cookies)
  expect(await present(browser, answer)).toBe(303)
  expect((await browser.get(account)).status).toBe(200)
  const replay = formBrowser(gateway.url)
  for (const [name, value] of copy) replay.cookies.set(name, value)
  const token = formTokenIn(await (await replay.get(signInPage)).text())
  const again = await replay.post('/dashboard/passkey', { credential: answer, form_token: token })
  expect(again.status).toBe(401)
})

for (const [name, count, flags] of [
  ['a count that does not rise', 1, 0x05],
  ['a person who was not verified', 9, 0x01],
] as const)
  test(`${name} signs nobody in`, async () => {
    const key = softAuthenticator(site)
    const owner = formBrowser(gateway.url)
    await gateway.db.rows(sql`update users set sealed_totp = null where user_id = ${user_id}`)
    await owner.signIn(email, password)
    const credential = key.create(await challengeFor(owner, account, `${account}/passkey-options`), 1)
    await owner.submit(account, `${account}/passkey-add`, { credential, name: 'Key' })
    const browser = formBrowser(gateway.url)
    expect(await present(browser, key.get(await ask(browser), count, flags))).toBe(401)
    expect(await present(browser, key.get(await ask(browser), 10))).toBe(303)
  })

test('a passkey of another site, and what is no passkey, sign nobody in', async () => {
  const key = softAuthenticator('http://evil.example')
  const browser = formBrowser(gateway.url)
  expect(await present(browser, key.get(await ask(browser), 1))).toBe(401)
  for (const broken of ['', '{}', '[]', 'null', '{"id":"x"}', '{"id":"x","response":null}'])
    expect(await present(browser, broken)).toBe(401)
})
