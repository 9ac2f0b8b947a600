import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash } from '@node-rs/argon2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { totpVault } from '../../../src/actions/access/totpVault.ts'
import type { OperatorRole } from '../../../src/core/access/permissions.ts'
import { newTotpSecret, recoveryDigest, totpCode } from '../../../src/core/access/secondFactor.ts'
import { newUserId } from '../../../src/runtime/ids.ts'
import { dummyHash } from '../../../src/runtime/passwordHasher.ts'
import { addUser, findUser, saveMembership, saveRecoveryDigests } from '../../../src/store/access/users.ts'
import { sql } from '../../../src/store/db.ts'
import { formBrowser } from '../../support/dashboard/formBrowser.ts'
import { formTokenIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'

let gateway: TestGateway
let merchant: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const password = 'four words that differ'

type Person = { user_id: string; email: string; secret?: string }

async function addPerson(
  options: { operator?: OperatorRole; secondFactor?: boolean; active?: boolean } = {},
): Promise<Person> {
  const user_id = newUserId()
  const email = `${user_id}@example.com`
  const secret = options.secondFactor ? newTotpSecret() : undefined
  const vault = await totpVault(gateway.db, gateway.masterKeys)
  await addUser(gateway.db, {
    user_id,
    email,
    name: '<b>Kofi</b>',
    lang: 'en',
    password_hash: await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
    operator_role: options.operator ?? null,
    sealed_totp: secret ? vault.seal(user_id, secret) : null,
    totp_step: null,
    active: options.active ?? true,
    created_at: new Date(),
    signed_in_at: null,
  })
  if (!options.operator)
    await saveMembership(gateway.db, {
      merchant_id: merchant.merchant_id,
      user_id,
      role: 'owner',
      outlets: null,
      created_at: new Date(),
    })
  return { user_id, email, secret }
}

const openBrowser = () => {
  const browser = formBrowser(gateway.url)
  return {
    ...browser,
    signIn: (email: string, secret = password, next?: string) => browser.signIn(email, secret, next),
  }
}

const to = (answer: Response) => [answer.status, answer.headers.get('location')]
const sessionName = 'tollgate_session'
const startPage = () => `/dashboard/m/${merchant.merchant_id}/live`

test('a user signs in with email and password, in any spelling of the email, and signs out', async () => {
  const { email } = await addPerson()
  const browser = openBrowser()
  expect(to(await browser.signIn(` ${email.toUpperCase()} `))).toEqual([303, '/dashboard'])
  expect(to(await browser.get('/dashboard'))).toEqual([303, startPage()])
  const old = browser.cookies.get(sessionName) as string
  const left = await browser.submit('/dashboard/account', '/dashboard/sign-out')
  expect(left.status).toBe(303)
  expect(browser.cookies.has(sessionName)).toBe(false)
  browser.cookies.set(sessionName, old) // a copy of the cookie
  expect(to(await browser.get('/dashboard'))[1]).toContain('/dashboard/sign-in')
})

test('the session id is new at every sign-in, and an id that the browser brings is never adopted', async () => {
  const { email } = await addPerson()
  const browser = openBrowser()
  const planted = 'a'.repeat(43)
  browser.cookies.set(sessionName, planted)
  await browser.signIn(email)
  const first = browser.cookies.get(sessionName) as string
  expect(first).not.toBe(planted)
  await browser.signIn(email)
  expect(browser.cookies.get(sessionName)).not.toBe(first)
  browser.cookies.set(sessionName, first)
  expect(to(await browser.get('/dashboard'))[1]).toContain('/dashboard/sign-in')
  const digest = createHash('sha256').update(first).digest('base64url')
  const stored = sql`select 1 from user_sessions where session_digest in (${first}, ${digest})`
  expect(await gateway.db.rows(stored)).toEqual([])
})

test('the cookie is HttpOnly and SameSite, and over https it has the prefix __Host- and Secure', async () => {
  const { email } = await addPerson()
  const answer = await openBrowser().signIn(email)
  const line = answer.headers.getSetCookie().find(one => one.startsWith(sessionName))
  expect(line).toMatch(/Path=\/; HttpOnly; SameSite=Lax/)
  expect(line).not.toContain('Secure')
  const secure = await testGateway({ TOLLGATE_BASE_URL: 'https://pay.example' })
  const page = await fetch(`${secure.url}/dashboard/sign-in`)
  expect(page.headers.get('set-cookie')).toMatch(/^__Host-tollgate_form=.*; Secure/)
  await secure.stop()
})

test('wrong password, unknown email, invited and deactivated users get the same words and the same work', async () => {
  const { email } = await addPerson()
  const gone = await addPerson({ active: false })
  const texts = []
  for (const [who, secret] of [
    [email, 'another long password'],
    ['nobody@example.com', password],
    [gone.email, password],
  ] as const) {
    const answer = await openBrowser().signIn(who, secret)
    const text = (await answer.text()).replaceAll(who, 'EMAIL').replace(/name="form_token" value="[^"]+"/, '')
    texts.push([answer.status, text])
  }
  expect(texts[0]?.[0]).toBe(401)
  expect(texts[1]).toEqual(texts[0])
  expect(texts[2]).toEqual(texts[0])
  // An unknown email is compared with this hash, which costs what a real one costs.
  expect(dummyHash.split('$').slice(0, 4)).toEqual((await hash('x')).split('$').slice(0, 4))
})

test('a form of another site, without a token or with the token of another browser signs nobody in', async () => {
  const { email } = await addPerson()
  const browser = openBrowser()
  const token = formTokenIn(await (await browser.get('/dashboard/sign-in')).text())
  const fields = { email, password, form_token: token }
  expect((await browser.post('/dashboard/sign-in', fields, { origin: 'https://evil.example' })).status).toBe(
    403,
  )
  expect((await browser.post('/dashboard/sign-in', { ...fields, form_token: '' })).status).toBe(403)
  expect((await openBrowser().post('/dashboard/sign-in', fields)).status).toBe(403)
  expect((await browser.post('/dashboard/sign-in', fields)).status).toBe(303)
})

test('guessing is limited for each account, and a browser that signed in before is not locked out', async () => {
  const { email } = await addPerson()
  const owner = openBrowser()
  await owner.signIn(email)
  await owner.submit('/dashboard/account', '/dashboard/sign-out')
  const guesser = openBrowser()
  const answers: number[] = []
  for (let n = 0; n < 12; n++) answers.push((await guesser.signIn(email, `wrong password ${n}`)).status)
  expect(answers.slice(0, 10)).toEqual(Array(10).fill(401))
  expect(answers.slice(10)).toEqual([429, 429])
  expect((await guesser.signIn(email)).status).toBe(429) // the right one, too
  expect((await owner.signIn(email)).status).toBe(303)
  // The mark of one account counts for no other.
  const other = await addPerson()
  expect((await owner.signIn(other.email, 'wrong password')).status).toBe(401)
})

test('two passwords are hashed at once, and more are answered 429', async () => {
  const people = await Promise.all([1, 2, 3, 4, 5, 6].map(() => addPerson()))
  const browsers = people.map(({ email }) => ({ email, browser: openBrowser() }))
  const tokens = await Promise.all(
    browsers.map(async ({ browser }) => formTokenIn(await (await browser.get('/dashboard/sign-in')).text())),
  )
  const answers = await Promise.all(
    browsers.map(({ email, browser }, at) =>
      browser.post('/dashboard/sign-in', { email, password, form_token: tokens[at] ?? '' }),
    ),
  )
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter(status => status === 303).length).toBeGreaterThanOrEqual(2)
  expect(statuses.every(status => status === 303 || status === 429)).toBe(true)
})

for (const [next, leads] of [
  ['/dashboard/account?x=1', '/dashboard/account?x=1'],
  ['https://evil.example/', '/dashboard'],
  ['//evil.example/dashboard', '/dashboard'],
  ['/dashboard//evil.example', '/dashboard'],
  ['/\\evil.example', '/dashboard'],
  ['/dashboard\\..\\..\\evil', '/dashboard'],
  ['/dashboard/../../support', '/dashboard'],
  ['/dashboard@evil.example', '/dashboard'],
  ['/dashboardx', '/dashboard'],
  ['javascript:alert(1)', '/dashboard'],
] as const)
  test(`after signing in, ${next} leads to ${leads}`, async () => {
    const { email } = await addPerson()
    const answer = await openBrowser().signIn(email, password, next)
    expect(to(answer)).toEqual([303, leads])
  })

test('with a second factor the password alone opens nothing, and a code is accepted once', async () => {
  const { email, user_id, secret = '' } = await addPerson({ operator: 'admin', secondFactor: true })
  const browser = openBrowser()
  expect(to(await browser.signIn(email))[1]).toBe('/dashboard/second-factor?next=%2Fdashboard')
  expect(browser.cookies.has(sessionName)).toBe(false)
  expect(to(await browser.get('/dashboard/account'))[1]).toContain('/dashboard/sign-in')
  expect((await browser.code('000000')).status).toBe(401)
  const code = totpCode(secret, new Date())
  const second = openBrowser()
  await second.signIn(email)
  const answers = await Promise.all([browser.code(code), second.code(code)])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 401])
  const earlier = totpCode(secret, new Date(Date.now() - 30_000))
  const third = openBrowser()
  await third.signIn(email)
  expect((await third.code(earlier)).status).toBe(401) // an earlier step than the accepted one
  expect((await findUser(gateway.db, user_id))?.totp_step).not.toBeNull()
})

test('a code that signed in confirms nothing, in the same window either', async () => {
  const { email, user_id, secret = '' } = await addPerson({ operator: 'admin', secondFactor: true })
  const browser = openBrowser()
  await browser.signIn(email)
  const code = totpCode(secret, new Date())
  expect((await browser.code(code)).status).toBe(303)
  await gateway.db.rows(sql`update user_sessions set confirmed_at = null where user_id = ${user_id}`)
  const confirm = (typed: string) =>
    browser.submit('/dashboard/confirm', '/dashboard/confirm', { secret: typed, next: '/dashboard/account' })
  expect((await confirm(code)).status).toBe(401)
  const later = totpCode(secret, new Date(Date.now() + 30_000)) // of a phone that is ahead: a newer step
  expect(to(await confirm(later))).toEqual([303, '/dashboard/account'])
  await gateway.db.rows(sql`update user_sessions set confirmed_at = null where user_id = ${user_id}`)
  expect((await confirm(later)).status).toBe(401)
})

test('a recovery code signs in once', async () => {
  const { email, user_id } = await addPerson({ operator: 'admin', secondFactor: true })
  const code = 'abcd-efgh-jkmn-pqrs'
  await saveRecoveryDigests(gateway.db, user_id, [recoveryDigest(user_id, code) as string])
  const browser = openBrowser()
  await browser.signIn(email)
  expect(to(await browser.code(code.toUpperCase()))).toEqual([303, '/dashboard'])
  const again = openBrowser()
  await again.signIn(email)
  expect((await again.code(code)).status).toBe(401)
})

test('the state between password and code ends when the password changes', async () => {
  const { email, user_id } = await addPerson({ operator: 'admin', secondFactor: true })
  const browser = openBrowser()
  await browser.signIn(email)
  await gateway.db.rows(sql`update users set password_hash = 'changed' where user_id = ${user_id}`)
  expect(to(await browser.get('/dashboard/second-factor'))[1]).toContain('done=ended')
})

test('an operator without a second factor sets it up before anything else', async () => {
  const { email, user_id } = await addPerson({ operator: 'admin' })
  const browser = openBrowser()
  await browser.signIn(email)
  const before = browser.cookies.get(sessionName)
  for (const path of ['/dashboard', '/dashboard/places', '/dashboard/account'])
    expect(to(await browser.get(path)), path).toEqual([303, '/dashboard/account/second-factor'])
  const page = await (await browser.get('/dashboard/account/second-factor')).text()
  const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(page)?.[1] ?? ''
  const fields = { secret, mark: 'none', form_token: formTokenIn(page) }
  expect((await browser.post('/dashboard/account/second-factor', { ...fields, code: '000000' })).status).toBe(
    422,
  )
  const code = totpCode(secret, new Date())
  const codes = await (await browser.post('/dashboard/account/second-factor', { ...fields, code })).text()
  expect(codes.match(/<code>[0-9a-z]{4}(-[0-9a-z]{4}){3}<\/code>/g)?.length).toBe(10)
  expect(browser.cookies.get(sessionName)).not.toBe(before) // new rights, new session
  expect((await browser.get('/dashboard/account')).status).toBe(200)
  const stored = await findUser(gateway.db, user_id)
  expect(stored?.sealed_totp?.toString('latin1')).not.toContain(secret)
  expect(stored?.recovery_digests.length).toBe(10)
})

test('a change of the password needs a recent confirmation, and ends all other sessions', async () => {
  const { email, user_id } = await addPerson()
  const [here, elsewhere] = [openBrowser(), openBrowser()]
  await here.signIn(email)
  await elsewhere.signIn(email)
  const change = (typed: string) =>
    here.submit('/dashboard/account', '/dashboard/account/password', { password: typed })
  await gateway.db.rows(sql`
    update user_sessions set confirmed_at = now() - interval '11 minutes' where user_id = ${user_id}`)
  const asked = await change('five words that also differ')
  expect(to(asked)).toEqual([303, '/dashboard/confirm?next=%2Fdashboard%2Faccount'])
  const confirm = (secret: string) =>
    here.submit('/dashboard/confirm', '/dashboard/confirm', { secret, next: '/dashboard/account' })
  expect((await confirm('wrong password')).status).toBe(401)
  expect(to(await confirm(password))).toEqual([303, '/dashboard/account'])
  for (const bad of ['short', 'password12', `${email.split('@')[0]}12`])
    expect((await change(bad)).status).toBe(422)
  const old = here.cookies.get(sessionName)
  expect(to(await change('five words that also differ'))[1]).toBe('/dashboard/account?done=password')
  expect(here.cookies.get(sessionName)).not.toBe(old)
  expect(to(await elsewhere.get('/dashboard/account'))[1]).toContain('/dashboard/sign-in')
  expect((await here.get('/dashboard/account')).status).toBe(200)
})

test('sessions are listed, and end from another browser; nobody ends those of others', async () => {
  const { email } = await addPerson()
  const stranger = await addPerson()
  const [here, elsewhere, foreign] = [openBrowser(), openBrowser(), openBrowser()]
  await here.signIn(email)
  await elsewhere.signIn(email)
  await foreign.signIn(stranger.email)
  const page = await (await here.get('/dashboard/account')).text()
  expect(page).not.toContain('<b>Kofi</b>') // the name is text
  expect(page).toContain('&lt;b&gt;Kofi')
  const digest = /name="session" value="([\w-]+)"/.exec(page)?.[1] ?? ''
  await foreign.submit('/dashboard/account', '/dashboard/account/sessions/end', { session: digest })
  expect((await elsewhere.get('/dashboard/account')).status).toBe(200)
  await here.submit('/dashboard/account', '/dashboard/account/sessions/end', { session: digest })
  await sleep(10)
  expect((await elsewhere.get('/dashboard/account')).status).toBe(303)
  expect((await here.get('/dashboard/account')).status).toBe(200)
})
