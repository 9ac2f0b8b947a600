import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway } from '../../support/gateway/gateway.ts'

let gateway: TestGateway
let admin: DashboardClient
let support: DashboardClient
beforeAll(async () => {
  gateway = await testGateway()
  admin = await signedIn(gateway, { operator: 'admin' })
  support = await signedIn(gateway, { operator: 'support' })
})
afterAll(() => gateway.stop())

const base = '/dashboard/operator/accounts'
const to = (answer: Response) => [answer.status, answer.headers.get('location')]
const secret = 'sk_test_0123456789abcdef0123456789abcdef01234567'

const newAccount = async () => {
  const html = await admin.html(`${base}/new?provider=paystack&mode=test`)
  const account = /name="account" value="([\w-]+)"/.exec(html)?.[1] ?? ''
  const add = (fields: Record<string, string> = {}) =>
    admin.submit(`${base}/new?provider=paystack`, `${base}/new`, {
      account,
      provider: 'paystack',
      mode: 'test',
      label: '<i>Main</i>',
      setting_secret_key: secret,
      unchecked: 'on',
      ...fields,
    })
  return { account, add, page: `${base}/${account}` }
}

const auditOf = (subject: string) =>
  gateway.db.rows<{ action: string; before: unknown; after: unknown }>(
    sql`select action, before, after from audit_entries where subject = ${subject} order by entry_id`,
  )
const versionOn = async (page: string) =>
  /name="version" value="(\d+)"/.exec(await admin.html(page))?.[1] ?? ''

test('an account is added once, and its secret is nowhere: not on a page, not in the log, not in the audit', async () => {
  const { account, add, page } = await newAccount()
  const answers = await Promise.all([add(), add()])
  const notices = answers.map(answer => answer.headers.get('location')?.split('done=')[1])
  expect(new Set(notices)).toEqual(new Set(['already', 'saved']))
  const entries = await auditOf(account)
  expect(entries.map(({ action }) => action)).toEqual(['account.add'])
  const pages = [await admin.html(page), await admin.html(`${page}/settings`), await admin.html(base)]
  const seen = JSON.stringify([
    entries,
    pages,
    gateway.logs,
    await gateway.db.rows(sql`select to_jsonb(a) from provider_accounts a`),
  ])
  expect(seen).not.toContain(secret)
  expect(pages[0]).toContain('&lt;i&gt;Main')
})

test('wrong settings are named beside their fields, and secrets are not sent back', async () => {
  const { add, account } = await newAccount()
  const answer = await add({ setting_secret_key: '', merchant: 'nobody', label: 'kept' })
  expect(answer.status).toBe(422)
  const html = await answer.text()
  expect(html).toContain('id="merchant-fault"')
  expect(html).toContain('value="kept"')
  expect(await gateway.db.rows(sql`select 1 from provider_accounts where account = ${account}`)).toEqual([])
  const second = await (await add({ setting_secret_key: '', label: 'kept' })).text()
  expect(second).toContain('id="setting_secret_key-fault"')
})

test('an account is disabled once; a second tab and an old form change nothing', async () => {
  const { add, account, page } = await newAccount()
  await add()
  const version = await versionOn(page)
  const disable = () => admin.submit(page, `${page}/enabled`, { enabled: 'off', version })
  const answers = await Promise.all([disable(), disable()])
  expect(answers.filter(answer => answer.headers.get('location')?.endsWith('done=saved')).length).toBe(1)
  expect(to(await admin.submit(page, `${page}/enabled`, { enabled: 'on', version }))).toEqual([
    303,
    `${page}?done=changed`,
  ])
  const row = await gateway.db.one<{ disabled_at: Date | null }>(
    sql`select disabled_at from provider_accounts where account = ${account}`,
  )
  expect(row?.disabled_at).not.toBeNull()
  expect((await auditOf(account)).map(({ action }) => action)).toEqual(['account.add', 'account.change'])
})

test('each change of a merchant’s own account sends its owners a mail, one of the operator’s sends none', async () => {
  const { merchant_id } = await gateway.addMerchant()
  await signedIn(gateway, { member: { merchant_id, role: 'owner' } })
  const mails = () =>
    gateway.db.rows<{ details: object }>(sql`select details from user_mails order by created_at, mail_id`)
  const own = await newAccount()
  await own.add({ merchant: merchant_id })
  const told = (await mails()).map(({ details }) => details)
  expect(told).toMatchObject([{ change: 'payout' }])
  await own.add({ merchant: merchant_id }) // the same form again
  const change = { label: 'Main', unchecked: 'on', business: 'other' }
  await admin.submit(own.page, `${own.page}/settings`, {
    ...change,
    version: await versionOn(own.page),
    setting_secret_key: secret.replace('0123', '9876'),
  })
  expect(await mails()).toHaveLength(2)
  const enable = async (enabled: string) =>
    admin.submit(own.page, `${own.page}/enabled`, { enabled, version: await versionOn(own.page) })
  await enable('off')
  await enable('on')
  expect(await mails()).toHaveLength(4)
  const renamed = { ...change, label: 'Head office', version: await versionOn(own.page) }
  await admin.submit(own.page, `${own.page}/settings`, renamed)
  expect(await mails()).toHaveLength(4)
  const { add } = await newAccount()
  await add()
  expect(await mails()).toHaveLength(4)
})

test('other credentials are stored only with an answer to whose they are', async () => {
  const { add, account, page } = await newAccount()
  await add()
  const version = await versionOn(page)
  const change = (fields: Record<string, string>) =>
    admin.submit(page, `${page}/settings`, {
      version,
      label: 'Head office',
      unchecked: 'on',
      setting_secret_key: secret.replace('0123', '9876'),
      ...fields,
    })
  const asked = await change({})
  expect(asked.status).toBe(422)
  expect(await asked.text()).toContain('These credentials differ from the stored ones')
  expect(to(await change({ business: 'same' }))).toEqual([303, `${page}?done=saved`])
  expect(to(await change({ business: 'same' }))).toEqual([303, `${page}?done=changed`])
  const [, entry] = await auditOf(account)
  expect(entry?.after).toMatchObject({ label: 'Head office', credentials: 'stored again' })
})

test('a settings form without secrets keeps them', async () => {
  const { add, page, account } = await newAccount()
  await add()
  const version = await versionOn(page)
  const saved = await admin.submit(page, `${page}/settings`, { version, label: 'Renamed', unchecked: 'on' })
  expect(to(saved)).toEqual([303, `${page}?done=saved`])
  const row = await gateway.db.one<{ label: string }>(
    sql`select label from provider_accounts where account = ${account}`,
  )
  expect(row?.label).toBe('Renamed')
})

test('another role sees accounts and changes none, and an account of the environment has no form', async () => {
  const { add, page } = await newAccount()
  await add()
  expect((await support.get(page)).status).toBe(200)
  expect(await support.html(page)).not.toContain('/enabled"')
  for (const path of [`${base}/new`, `${page}/settings`, `${page}/test`, `${page}/enabled`])
    expect((await support.submit('/dashboard/account', path, {})).status, path).toBe(403)
  expect(await admin.html(`${base}/sandbox`)).toContain('in the environment of the gateway')
  expect((await admin.get(`${base}/nothing`)).status).toBe(404)
})

test('adding an account needs a recent confirmation before anything is typed', async () => {
  await gateway.db.rows(sql`
    update user_sessions set confirmed_at = now() - interval '1 hour' where user_id = ${admin.user_id}`)
  expect(to(await admin.get(`${base}/new`))[1]).toContain('/dashboard/confirm')
})
