import { afterAll, beforeAll, expect, test } from 'vitest'
import { newUserId } from '../../../src/runtime/ids.ts'
import { addPasskey } from '../../../src/store/access/passkeys.ts'
import { findUserByEmail, saveOperatorRole, saveSecondFactor } from '../../../src/store/access/users.ts'
import { sql } from '../../../src/store/db.ts'
import { formBrowser } from '../../support/dashboard/formBrowser.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { runInProcess } from '../inProcess.ts'
import { type Env, newMasterKey } from '../tollgate.ts'

let gateway: TestGateway
let env: Env
beforeAll(async () => {
  const TOLLGATE_MASTER_KEY = newMasterKey()
  gateway = await testGateway({ TOLLGATE_MASTER_KEY })
  env = { DATABASE_URL: gateway.databaseUrl, TOLLGATE_MASTER_KEY, TOLLGATE_BASE_URL: gateway.url }
})
afterAll(() => gateway.stop())

const run = (...args: string[]) => runInProcess(env, ['user', ...args])
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--json')
  return { code, data: JSON.parse(stdout || stderr) as Record<string, string> & { users: object[] } }
}
const pathOf = (link = '') => link.slice(gateway.url.length)
const email = 'ama@example.com'
const password = 'four words that differ'

test('an invited person joins by the printed link, and is listed', async () => {
  expect((await run('list')).stdout).toMatch(/^There are no users yet: tollgate user invite/)
  expect((await run('invite', email, '--role', 'boss')).stderr).toContain('--role must be one of admin')
  expect((await run('invite', 'ama', '--role', 'admin')).stderr).toContain('is not an email address')
  const { stdout } = await run('invite', email, '--role', 'admin')
  const link = pathOf(/^ {2}(http\S+)$/m.exec(stdout)?.[1])
  const browser = formBrowser(gateway.url)
  await browser.submit(link, link, { name: 'Ama', password, lang: 'en' })
  const { data } = await json('list')
  expect(data.users).toMatchObject([
    { email, operator_role: 'admin', has_second_factor: false, merchants: [] },
  ])
  expect((await browser.get('/dashboard/account')).headers.get('location')).toBe(
    '/dashboard/account/second-factor',
  )
})

test('the team of a merchant gets a cashier with outlets that it has', async () => {
  const { merchant_id } = await gateway.addMerchant()
  const invite = (...more: string[]) => json('invite', 'c@example.com', '--merchant', merchant_id, ...more)
  expect((await invite('--role', 'cashier', '--outlet', 'osu')).code).toBe(1)
  await gateway.db.rows(
    sql`insert into outlets (merchant_id, code, name, created_at) values (${merchant_id}, 'osu', 'Osu', now())`,
  )
  expect((await invite('--role', 'cashier', '--outlet', 'osu')).code).toBe(0)
  const [row] = await gateway.db.rows(
    sql`select role, outlets from user_links where merchant_id = ${merchant_id}`,
  )
  expect(row).toEqual({ role: 'cashier', outlets: ['osu'] })
})

test('reset keeps the second factor, rescue removes every way in but its link, and both links work once', async () => {
  const user = await findUserByEmail(gateway.db, email)
  const user_id = user?.user_id ?? ''
  const factor = { sealed_totp: Buffer.from('sealed'), totp_step: null, recovery_digests: ['a'] }
  await saveSecondFactor(gateway.db, user_id, factor)
  await addPasskey(gateway.db, {
    passkey_id: newUserId(),
    user_id,
    name: 'Phone',
    public_key: Buffer.from('key'),
    sign_count: 0n,
    created_at: new Date(),
    used_at: null,
  })
  const reset = pathOf((await json('reset', email)).data.link)
  const browser = formBrowser(gateway.url)
  await browser.submit(reset, reset, { password: 'five words that differ too' })
  expect((await browser.get(reset)).status).toBe(410)
  const signed = await browser.signIn(email, 'five words that differ too')
  expect(signed.headers.get('location')).toContain('/dashboard/second-factor')
  const earlier = pathOf((await json('reset', email)).data.link)
  const rescue = pathOf((await json('rescue', email)).data.link)
  expect((await browser.get(earlier)).status).toBe(410)
  expect(await findUserByEmail(gateway.db, email)).toMatchObject({
    password_hash: null,
    sealed_totp: null,
    recovery_digests: [],
  })
  expect(await gateway.db.rows(sql`select from passkeys`)).toEqual([])
  // The mailbox alone does not open a rescued account.
  await browser.submit('/dashboard/reset', '/dashboard/reset', { email })
  const mails = await gateway.db.rows(
    sql`select kind from user_mails where email = ${email} order by created_at`,
  )
  expect(mails.at(-1)).toEqual({ kind: 'no_account' })
  await browser.submit(rescue, rescue, { password })
  expect((await browser.get(rescue)).status).toBe(410)
  expect((await browser.signIn(email, password)).headers.get('location')).toBe('/dashboard')
  expect((await browser.get('/dashboard')).headers.get('location')).toBe('/dashboard/account/second-factor')
})

test('the last admin stays; every command is in the audit log', async () => {
  expect((await run('deactivate', email)).stderr).toContain('last admin')
  const user = await findUserByEmail(gateway.db, email)
  await saveOperatorRole(gateway.db, user?.user_id ?? '', 'support')
  expect((await run('deactivate', email)).stdout).toContain('cannot sign in any more')
  expect((await run('rescue', email)).stderr).toContain('tollgate user activate comes first')
  expect((await run('activate', email)).stdout).toContain('can sign in again')
  expect((await run('reset', 'nobody@example.com')).stderr).toContain('There is no user nobody@example.com')
  const entries = await gateway.db.rows<{ action: string }>(
    sql`select action from audit_entries where actor_kind = 'command' and action like 'user.%' order by entry_id`,
  )
  expect(entries.map(({ action }) => action)).toEqual([
    'user.invite',
    'user.invite',
    'user.reset_link',
    'user.reset_link',
    'user.rescue',
    'user.deactivate',
    'user.activate',
  ])
})
