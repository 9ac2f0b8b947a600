import { hash } from '@node-rs/argon2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { totpVault } from '../../../src/actions/access/totpVault.ts'
import { installationSecrets } from '../../../src/actions/installation/secrets.ts'
import { newTotpSecret, totpCode } from '../../../src/core/access/secondFactor.ts'
import { type LinkPurpose, userLinkAddress } from '../../../src/core/access/userLink.ts'
import { newUserId } from '../../../src/runtime/ids.ts'
import { addPasskey, takeChallenge, usePasskey } from '../../../src/store/access/passkeys.ts'
import { addUser, findUser, findUserByEmail } from '../../../src/store/access/users.ts'
import { sql } from '../../../src/store/db.ts'
import { formBrowser } from '../../support/dashboard/formBrowser.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'

let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
let admin: DashboardClient
let formKey: Buffer
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  const { merchant_id } = merchant
  owner = await signedIn(gateway, { name: 'Ama Owner', member: { merchant_id, role: 'owner' } })
  admin = await signedIn(gateway, { name: 'Esi Admin', operator: 'admin' })
  formKey = (await installationSecrets(gateway.db, gateway.masterKeys, new Date())).formKey
})
afterAll(() => gateway.stop())

const password = 'four words that differ'
const other = 'five words that also differ'
let nextPerson = 0

async function addPerson(options: { operator?: 'admin' | 'support'; secondFactor?: boolean } = {}) {
  const user_id = newUserId()
  const email = `person${nextPerson++}@example.com`
  const secret = options.secondFactor ? newTotpSecret() : undefined
  const vault = await totpVault(gateway.db, gateway.masterKeys)
  await addUser(gateway.db, {
    user_id,
    email,
    name: 'Kofi Mensah',
    lang: 'en',
    password_hash: await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
    operator_role: options.operator ?? null,
    sealed_totp: secret ? vault.seal(user_id, secret) : null,
    totp_step: null,
    active: true,
    created_at: new Date(),
    signed_in_at: null,
  })
  return { user_id, email, secret }
}

const mailsTo = (email: string) =>
  gateway.db.rows<{ kind: string; details: Record<string, string> }>(
    sql`select kind, details from user_mails where email = ${email} order by created_at, mail_id`,
  )
const linksTo = (email: string) =>
  gateway.db.rows<{ link_id: string; purpose: LinkPurpose }>(
    sql`select link_id, purpose from user_links where email = ${email} order by created_at desc`,
  )
async function linkTo(email: string) {
  const [link] = await linksTo(email)
  return link ? userLinkAddress(formKey, '', link) : ''
}
const markIn = (html: string) => /name="mark" value="([^"]+)"/.exec(html)?.[1] ?? ''
const to = (answer: Response) => [answer.status, answer.headers.get('location')]
const askReset = (email: string) =>
  formBrowser(gateway.url).submit('/dashboard/reset', '/dashboard/reset', { email })
const teamPath = () => `/dashboard/m/${merchant.merchant_id}/live/settings/team`
const auditOf = (subject: string) =>
  gateway.db.rows<{ action: string }>(
    sql`select action from audit_entries where subject = ${subject} order by entry_id`,
  )

test('a reset answers every address with the same words, and after the same work', async () => {
  const { email } = await addPerson()
  const gone = await addPerson()
  await gateway.db.rows(sql`update users set active = false where user_id = ${gone.user_id}`)
  const bare = await addPerson({ operator: 'support' }) // a mailbox alone must not open the operator's part
  const pages = []
  for (const who of [email, 'nobody@example.com', gone.email, bare.email]) {
    const answer = await askReset(who)
    pages.push([answer.status, (await answer.text()).replaceAll(who, 'EMAIL')])
    expect((await mailsTo(who)).length).toBe(1)
    expect((await linksTo(who)).length).toBe(1)
  }
  for (const page of pages.slice(1)) expect(page).toEqual(pages[0])
  expect((await mailsTo(email))[0]?.kind).toBe('reset')
  for (const who of ['nobody@example.com', gone.email, bare.email]) {
    expect((await mailsTo(who))[0]?.kind).toBe('no_account')
    expect((await formBrowser(gateway.url).get(await linkTo(who))).status).toBe(410)
  }
})

test('a reset ends all sessions, signs nobody in, and does not bypass the second factor', async () => {
  const { email, user_id, secret = '' } = await addPerson({ operator: 'support', secondFactor: true })
  const before = formBrowser(gateway.url)
  await before.signIn(email, password)
  expect((await before.code(totpCode(secret, new Date()))).status).toBe(303)
  await askReset(email)
  const link = await linkTo(email)
  const browser = formBrowser(gateway.url)
  for (const bad of ['short', 'password12'])
    expect((await browser.submit(link, link, { password: bad })).status).toBe(422)
  expect(to(await browser.submit(link, link, { password: other }))).toEqual([
    303,
    '/dashboard/sign-in?done=changed&next=%2Fdashboard',
  ])
  expect(browser.cookies.has('tollgate_session')).toBe(false)
  expect(to(await before.get('/dashboard/account'))[1]).toContain('/dashboard/sign-in')
  expect((await browser.signIn(email, password)).status).toBe(401)
  expect(to(await browser.signIn(email, other))[1]).toContain('/dashboard/second-factor')
  expect(browser.cookies.has('tollgate_session')).toBe(false)
  expect((await findUser(gateway.db, user_id))?.sealed_totp).not.toBeNull()
  expect((await auditOf(user_id)).map(({ action }) => action)).toContain('user.password_reset')
  expect((await mailsTo(email)).map(({ kind }) => kind)).toContain('notice')
})

test('a link for a new password works once; a forged, expired or exchanged one never', async () => {
  const { email } = await addPerson()
  await askReset(email)
  const link = await linkTo(email)
  const [one, two] = [formBrowser(gateway.url), formBrowser(gateway.url)]
  const answers = await Promise.all([
    one.submit(link, link, { password: other }),
    two.submit(link, link, { password: 'six words that differ from these' }),
  ])
  expect(answers.filter(({ status }) => status === 303).length).toBe(1)
  expect((await one.get(link)).status).toBe(410)
  await askReset(email)
  const next = await linkTo(email)
  for (const wrong of [next.slice(0, -2), `${next.slice(0, -2)}AA`, next.replace('/reset/', '/invitation/')])
    expect((await one.get(wrong)).status).toBeGreaterThanOrEqual(404)
  await gateway.db.rows(sql`update user_links set expires_at = now() where email = ${email}`)
  expect((await one.get(next)).status).toBe(410)
  expect((await one.submit('/dashboard/reset', next, { password: other })).status).toBe(410)
})

test('an address gets three mails an hour, and asking is throttled', async () => {
  const { email } = await addPerson()
  const statuses = []
  for (let n = 0; n < 12; n++) statuses.push((await askReset(email)).status)
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200))
  expect(statuses.slice(10)).toEqual([429, 429])
  expect((await mailsTo(email)).length).toBe(3)
})

const invite = (email: string, fields: Record<string, string> = {}) =>
  owner.submit(`${teamPath()}/invite`, `${teamPath()}/invite`, { email, role: 'accountant', ...fields })

test('an owner invites a person, who chooses name and password, and the link works once', async () => {
  const email = 'new.person@example.com'
  expect(to(await invite(` ${email.toUpperCase()} `))).toEqual([303, `${teamPath()}?done=invited`])
  expect(to(await invite(email))[0]).toBe(303) // a second submission replaces the first
  expect((await linksTo(email)).length).toBe(1)
  const link = await linkTo(email)
  const browser = formBrowser(gateway.url)
  const page = await (await browser.get(link)).text()
  expect(page).toContain('Join Ama Shop')
  const fields = { name: 'Yaw <b>Boateng</b>', password, lang: 'fr' }
  const faulty = await browser.submit(link, link, { ...fields, password: 'short' })
  expect(faulty.status).toBe(422)
  expect(await faulty.text()).toContain('value="Yaw &lt;b&gt;Boateng&lt;/b&gt;"') // nothing typed is lost
  expect(to(await browser.submit(link, link, fields))).toEqual([303, '/dashboard'])
  const user = await findUserByEmail(gateway.db, email)
  expect(user).toMatchObject({ name: 'Yaw <b>Boateng</b>', lang: 'fr', operator_role: null })
  expect((await browser.get(`/dashboard/m/${merchant.merchant_id}/live/settings/team`)).status).toBe(403)
  expect((await browser.get(link)).status).toBe(410)
  const team = await owner.html(teamPath())
  expect(team).toContain('Yaw &lt;b&gt;Boateng')
  expect(team).not.toContain('<b>Boateng')
  expect((await invite(email)).status).toBe(422) // is a member already
})

test('a revoked or expired invitation opens nothing', async () => {
  for (const how of ['revoked', 'expired']) {
    const email = `${how}@example.com`
    await invite(email)
    const [link] = await linksTo(email)
    const address = await linkTo(email)
    if (how === 'expired')
      await gateway.db.rows(sql`update user_links set expires_at = now() where email = ${email}`)
    else {
      const stranger = await gateway.addMerchant()
      const foreign = await signedIn(gateway, {
        member: { merchant_id: stranger.merchant_id, role: 'owner' },
      })
      const elsewhere = `/dashboard/m/${stranger.merchant_id}/live/settings/team`
      await foreign.submit(`${elsewhere}/invite`, `${elsewhere}/revoke`, { link: link?.link_id ?? '' })
      expect((await formBrowser(gateway.url).get(address)).status).toBe(200)
      await owner.submit(`${teamPath()}/invite`, `${teamPath()}/revoke`, { link: link?.link_id ?? '' })
    }
    expect((await formBrowser(gateway.url).get(address)).status).toBe(410)
    expect(
      (await formBrowser(gateway.url).submit('/dashboard/reset', address, { name: 'A', password })).status,
    ).toBe(410)
  }
})

test('a person with an account accepts, and signs in as always', async () => {
  const { email, user_id } = await addPerson()
  const session = formBrowser(gateway.url)
  await session.signIn(email, password)
  await invite(email, { role: 'developer' })
  const link = await linkTo(email)
  const browser = formBrowser(gateway.url)
  const accepted = await browser.submit(link, link, { name: 'Mallory', password: other })
  expect(to(accepted)[1]).toContain('/dashboard/sign-in?done=joined')
  expect(browser.cookies.has('tollgate_session')).toBe(false)
  expect((await findUser(gateway.db, user_id))?.name).toBe('Kofi Mensah') // the link changes no account
  expect((await browser.signIn(email, other)).status).toBe(401)
  expect(to(await session.get('/dashboard/account'))[1]).toContain('/dashboard/sign-in') // new rights, new session
})

test('a cashier is bound to outlets, the last owner stays, and a change ends the sessions of the person', async () => {
  const { merchant_id } = merchant
  await gateway.db.rows(
    sql`insert into outlets (merchant_id, code, name, created_at) values (${merchant_id}, 'osu', 'Osu branch', now())`,
  )
  const person = await signedIn(gateway, { name: 'Adwoa', member: { merchant_id, role: 'developer' } })
  const memberPage = (user: string) => `${teamPath()}/member?user=${user}`
  const mark = markIn(await owner.html(memberPage(person.user_id)))
  const change = (user: string, fields: Record<string, string>) =>
    owner.submit(memberPage(user), `${teamPath()}/change`, { user, ...fields })
  const bound = { mark, role: 'cashier', outlet_osu: 'yes', outlet_foreign: 'yes' }
  expect(to(await change(person.user_id, bound))[1]).toBe(`${teamPath()}?done=changed`)
  expect(to(await change(person.user_id, { mark, role: 'owner' }))[1]).toBe(`${teamPath()}?stopped=other`)
  const [row] = await gateway.db.rows(
    sql`select role, outlets from memberships where merchant_id = ${merchant_id} and user_id = ${person.user_id}`,
  )
  expect(row).toEqual({ role: 'cashier', outlets: ['osu'] })
  expect(to(await person.get('/dashboard/account'))[1]).toContain('/dashboard/sign-in')
  const ownMark = markIn(await owner.html(memberPage(owner.user_id)))
  expect(to(await change(owner.user_id, { mark: ownMark, role: 'accountant' }))[1]).toContain(
    'stopped=lastOwner',
  )
  const fields = { user: owner.user_id, mark: ownMark }
  expect(to(await owner.submit(teamPath() + '/invite', `${teamPath()}/remove`, fields))[1]).toContain(
    'stopped=lastOwner',
  )
  expect((await auditOf(person.user_id)).map(({ action }) => action)).toContain('team.change')
  expect((await mailsTo(`${person.user_id}@example.com`))[0]?.details.what).toBe('role')
  expect((await mailsTo(`${owner.user_id}@example.com`)).some(({ kind }) => kind === 'alert')).toBe(true)
})

test('changes of people need a recent password or code', async () => {
  const { merchant_id } = merchant
  const late = await signedIn(gateway, { member: { merchant_id, role: 'owner' } })
  await gateway.db.rows(sql`
    update user_sessions set confirmed_at = now() - interval '11 minutes' where user_id = ${late.user_id}`)
  const asked = await late.submit(teamPath(), `${teamPath()}/invite`, {
    email: 'late@example.com',
    role: 'owner',
  })
  expect(to(asked)).toEqual([303, `/dashboard/confirm?next=${encodeURIComponent(teamPath())}`])
  expect(await linksTo('late@example.com')).toEqual([])
  await gateway.db.rows(sql`delete from memberships where user_id = ${late.user_id}`)
})

test('an admin invites, changes, deactivates and resets the second factor of others; the last admin stays', async () => {
  const email = 'operator@example.com'
  const users = '/dashboard/operator/users'
  await admin.submit(`${users}/invite`, `${users}/invite`, { email, role: 'support' })
  const link = await linkTo(email)
  const browser = formBrowser(gateway.url)
  await browser.submit(link, link, { name: 'Efua', password, lang: 'en' })
  expect(to(await browser.get('/dashboard/operator/users'))[1]).toBe('/dashboard/account/second-factor')
  const { user_id } = (await findUserByEmail(gateway.db, email)) ?? { user_id: '' }
  expect(await admin.html(`${users}?q=opera`)).toContain(email)
  expect(await admin.html(`${users}?q=%25`)).not.toContain(email) // no pattern
  const act = async (action: string, user: string, more: Record<string, string> = {}) => {
    const page = `${users}/person?user=${user}`
    const mark = markIn(await admin.html(page))
    return to(await admin.submit(page, `${users}/${action}`, { user, mark, ...more }))[1]
  }
  expect(await act('role', admin.user_id, { role: 'support' })).toBe(`${users}?stopped=lastAdmin`)
  expect(await act('deactivate', admin.user_id)).toBe(`${users}?stopped=self`)
  expect(await act('second-factor', admin.user_id)).toBe(`${users}?stopped=self`)
  expect(await act('role', user_id, { role: 'admin' })).toBe(`${users}?done=changed`)
  expect(to(await browser.get('/dashboard/account'))[1]).toContain('/dashboard/sign-in')
  await browser.signIn(email, password)
  expect(await act('deactivate', user_id)).toBe(`${users}?done=deactivated`)
  expect(to(await browser.get('/dashboard/account'))[1]).toContain('/dashboard/sign-in')
  expect((await browser.signIn(email, password)).status).toBe(401)
  expect(await act('activate', user_id)).toBe(`${users}?done=activated`)
  await gateway.db.rows(sql`update users set sealed_totp = '\\x00' where user_id = ${user_id}`)
  await askReset(email)
  expect((await linksTo(email)).length).toBe(1)
  expect(await act('second-factor', user_id)).toBe(`${users}?done=factor`)
  expect(await linksTo(email)).toEqual([]) // a link that was made before would be the only factor
  expect((await findUser(gateway.db, user_id))?.sealed_totp).toBeNull()
  expect((await auditOf(user_id)).map(({ action }) => action)).toEqual([
    'user.invite_accept',
    'user.sign_in',
    'user.role',
    'user.sign_in',
    'user.deactivate',
    'user.activate',
    'user.second_factor_reset',
  ])
})

test('a passkey whose count does not rise is a copy, and an answered challenge is not accepted again', async () => {
  const passkey_id = 'copied'
  const now = new Date()
  const passkey = { passkey_id, user_id: owner.user_id, name: 'Phone', public_key: Buffer.from('key') }
  await addPasskey(gateway.db, { ...passkey, sign_count: 0n, created_at: now, used_at: null })
  const used = []
  for (const count of [0n, 0n, 5n, 5n, 4n, 0n, 6n])
    used.push(await usePasskey(gateway.db, { passkey_id }, count, now))
  expect(used).toEqual([true, true, true, false, false, false, true])
  const later = new Date(now.getTime() + 60_000)
  const taken = await Promise.all([1, 2].map(() => takeChallenge(gateway.db, 'digest', later, now)))
  expect(taken.filter(Boolean).length).toBe(1)
})
