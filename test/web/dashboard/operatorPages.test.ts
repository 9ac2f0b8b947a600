import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let merchant: TestMerchant
let admin: DashboardClient
let reader: DashboardClient
let owner: DashboardClient
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  admin = await signedIn(gateway, { operator: 'admin' })
  reader = await signedIn(gateway, { operator: 'read_only' })
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
})
afterAll(() => gateway.stop())

const base = '/dashboard/operator'
const to = (answer: Response) => [answer.status, answer.headers.get('location')]
const locationsOf = (answers: readonly Response[]) =>
  answers.map(answer => answer.headers.get('location') ?? '').toSorted((a, b) => a.localeCompare(b))
const auditOf = (subject: string) =>
  gateway.db.rows<{ action: string; after: unknown }>(
    sql`select action, after from audit_entries where subject = ${subject} order by entry_id`,
  )

test('the live view has what was counted, this node, and what needs a person first', async () => {
  expect((await post(gateway.url, signedRequest(merchant.test, {}))).http).toBe(200)
  await expect
    .poll(
      async () => (await gateway.db.rows(sql`select 1 from node_minutes where started_test = 1`)).length,
      {
        timeout: 5000,
      },
    )
    .toBe(1)
  await expect.poll(() => reader.html(`${base}?mode=test`), { timeout: 5000 }).toMatch(/≤ \d+ ms/)
  const html = await reader.html(`${base}?mode=test`)
  expect(html).toContain('Payments flow. Nothing needs you.')
  expect(html).toMatch(/pill ok[^]*Good/)
  expect(html).toContain('peak today 0.02')
  expect(html).toContain('sandbox')
  expect((await owner.get(base)).status).toBe(404)
})

test('the live view puts an account that is down before everything else', async () => {
  await gateway.db.rows(sql`
    insert into provider_health (node, provider_account, payment_method, answered, late, unanswered, paid, declined,
      troubled, delays, breaker, answered_at, unknown_codes, last_error, last_error_at, written_at)
    values ('n9', 'sandbox', 'card', 0, 0, 9, 0, 0, 0, '{0}', 'open', null, '[]', '<b>no answer</b>', now(), now())`)
  const html = await admin.html(`${base}?mode=test`)
  expect(html).toContain('No payment can be made')
  expect(html).toContain('&lt;b&gt;no answer')
  await gateway.db.rows(sql`delete from provider_health where node = 'n9'`)
})

const shops = (html: string) => html.match(/title="shop\d+\.example"/g)?.length

test('the live view has the worst failing endpoints, and leads to a page with all of them', async () => {
  const { body } = await post(gateway.url, signedRequest(merchant.test, {}))
  await gateway.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries, retry,
      next_try_at, last_try, last_try_at, last_ms, last_status, last_result, last_words)
    select ${merchant.merchant_id}, ${String(body.tx_reference)}, 100 + n, 'test', 'https://shop' || n || '.example/ipn',
      'https://shop' || n || '.example:443', 'post', now(), now(), 3, true, now() + interval '1 day', 3, now(), 12, 503,
      'server_error', '' from generate_series(1, 25) n`)
  const html = await reader.html(`${base}?mode=test`)
  expect(shops(html)).toBe(20)
  expect(html).toContain(`href="${base}/endpoints?mode=test"`)
  expect(shops(await reader.html(`${base}/endpoints?mode=test`))).toBe(25)
  expect(shops(await reader.html(`${base}/endpoints?mode=live`))).toBeUndefined()
  await gateway.db.rows(sql`delete from deliveries where sequence > 100`)
})

const live = async () =>
  (await reader.html(`${base}?mode=test`)).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

test('the live view has the last backup, its age, and the next step', async () => {
  expect(await live()).toMatch(
    /Backups How to None was made by tollgate backup\. Run this every night: tollgate backup/,
  )
  const add = (id: string, hours: number, verified: boolean) =>
    gateway.db.rows(sql`
      insert into backups (backup_id, taken_at, finished_at, bytes, payments, is_encrypted, verified_at)
      values (${id}, now() - ${hours} * interval '1 hour', now(), 48210400, 218400, true,
        ${verified ? sql`now()` : sql`null`})`)
  await add('b1', 30, true)
  expect(await live()).toMatch(/Last backup .{12}, 30 h Too old .* It should be at most 26 h old/)
  await add('b2', 3, false)
  expect(await live()).toMatch(
    /, 3 h Recent Verified Not yet Encrypted Yes Content 218,400 payments, 48\.2 MB/,
  )
  expect(await live()).toContain('Show that it can be restored: tollgate backup verify FILE')
  await add('b3', 1, true)
  expect(await live()).not.toContain('tollgate backup verify')
  await gateway.db.rows(sql`delete from backups`)
})

test('the live view names a node that lacks a master key, and one of an older schema', async () => {
  const beat = (node: string, number: number, schemasBack: number, keys: readonly string[]) =>
    gateway.db.rows(sql`
      insert into nodes (node, number, is_listening, name, listens_at, version, schema, key_ids, database_address,
        clock_offset_ms, is_paused, role, started_at, seen_at)
      values (${node}, ${number}, false, ${node}, 'http://10.0.0.1', '0.2.0',
          (select max(schema) from nodes) - ${schemasBack}::integer, ${keys}, '', 0, false, 'all',
        now(), now() + interval '1 minute')`)
  await beat('kum-1', 91, 0, [])
  await beat('acc-2', 92, 1, gateway.masterKeys.ids())
  const html = await admin.html(`${base}?mode=test`)
  expect(html).toContain('kum-1 lacks a master key that is in use.')
  expect(html).toContain('Also: acc-2 runs an older release than the database.')
  await gateway.db.rows(sql`delete from nodes where node in ('kum-1', 'acc-2')`)
})

for (const [typed, finds] of [
  ['ama', true],
  ['AMA SH', true],
  ['shop', false],
  ["'; drop table merchants; --", false],
] as const)
  test(`the search for ${typed} finds ${finds ? 'the merchant' : 'nothing'}`, async () => {
    const html = await admin.html(`${base}/merchants?q=${encodeURIComponent(typed)}`)
    expect(html.includes(merchant.merchant_id)).toBe(finds)
  })

test('a merchant is found by its id and by its key', async () => {
  for (const text of [merchant.merchant_id, merchant.test.merchant_key])
    expect(await reader.html(`${base}/merchants?q=${text}`)).toContain(`/merchants/${merchant.merchant_id}`)
})

test('the list of merchants is in pages, and each has the next ones by name', async () => {
  await gateway.db.rows(sql`
    insert into merchants (merchant_id, name, active, settings, master_key_id, wrapped_key, created_at)
    select 'bulk' || lpad(n::text, 6, '0'), 'Bulk ' || lpad(n::text, 3, '0'), true, '{}', master_key_id, wrapped_key, now()
    from generate_series(1, 60) n, (select * from merchants limit 1) m`)
  const first = await reader.html(`${base}/merchants?q=bulk`)
  expect(first.match(/Bulk \d{3}/g)?.at(-1)).toBe('Bulk 050')
  const next = /href="([^"]*after=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const second = await reader.html(next)
  expect(second).toContain('Bulk 051')
  expect(second).toContain('Bulk 060')
  expect(second).not.toContain('Bulk 050')
})

test('a merchant is deactivated once, however often the form is submitted, and only by an admin', async () => {
  const { merchant_id } = await gateway.addMerchant()
  const page = `${base}/merchants/${merchant_id}`
  const answers = await Promise.all(
    [1, 2, 3].map(() => admin.submit(page, `${page}/active`, { active: 'off' })),
  )
  expect(locationsOf(answers)).toEqual([
    `${page}?done=already`,
    `${page}?done=already`,
    `${page}?done=deactivated`,
  ])
  expect(await auditOf(merchant_id)).toEqual([{ action: 'merchant.deactivate', after: { active: false } }])
  expect(await admin.html(page)).toContain('Deactivated')
  for (const client of [reader, owner]) {
    const refused = await client.submit('/dashboard/account', `${page}/active`, { active: 'on' })
    expect([403, 404]).toContain(refused.status)
  }
  expect(to(await admin.submit(page, `${page}/active`, { active: 'on' }))[1]).toBe(`${page}?done=activated`)
})

const newMerchant = async (fields: Record<string, string>) => {
  const page = await admin.html(`${base}/merchants/new`)
  const merchant_id = /name="merchant_id" value="(\w+)"/.exec(page)?.[1] ?? ''
  const all = { merchant_id, name: 'Kente House', currencies: 'GHS', ...fields }
  return { merchant_id, submit: () => admin.submit(`${base}/merchants/new`, `${base}/merchants/new`, all) }
}

test('bad input of onboarding is named beside its field, and nothing that was typed is lost', async () => {
  const { submit, merchant_id } = await newMerchant({
    name: '<script>x</script>',
    currencies: 'XXX',
    ipn_url: 'not an address',
  })
  const answer = await submit()
  const html = await answer.text()
  expect(answer.status).toBe(422)
  expect(html).toContain('id="currencies-fault"')
  expect(html).toContain('id="ipn_url-fault"')
  expect(html).toContain('value="not an address"')
  expect(html).toContain('value="&lt;script&gt;')
  expect(html).toContain(`value="${merchant_id}"`)
})

test('onboarding makes one merchant, and its keys are shown once to whoever opens the link first', async () => {
  const { submit, merchant_id } = await newMerchant({
    contact_email: 'ops@kente.example',
    allowed_origins: 'https://kente.example',
    ipn_url: 'https://kente.example/ipn',
  })
  const page = `${base}/merchants/${merchant_id}`
  const answers = await Promise.all([submit(), submit()])
  for (const answer of answers) expect(to(answer)).toEqual([303, `${page}?done=made`])
  expect(
    (await gateway.db.rows(sql`select 1 from merchant_keys where merchant_id = ${merchant_id}`)).length,
  ).toBe(2)
  expect((await auditOf(merchant_id)).map(({ action }) => action)).toEqual(['merchant.add'])
  const shown = await admin.html(page)
  const link = /<code>(http[^<]*\/dashboard\/keys\/[^<]*)<\/code>/.exec(shown)?.[1] ?? ''
  expect(await reader.html(page)).not.toContain('/dashboard/keys/')
  const stored = JSON.stringify(await gateway.db.rows(sql`select * from key_handovers`))
  expect(stored).not.toContain(link.split('/').at(-1))
  // A preview of the link does not use it up.
  const before = await fetch(link)
  const html = await before.text()
  expect(html).not.toContain('secret_key')
  const cookie = before.headers.get('set-cookie')?.split(';')[0] ?? ''
  const form_token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const open = () =>
    fetch(link, {
      method: 'POST',
      headers: { cookie, origin: gateway.url },
      body: new URLSearchParams({ form_token }),
      redirect: 'manual',
    })
  const opened = await Promise.all([open(), open()])
  expect(opened.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 303])
  const keys = await (opened.find(({ status }) => status === 200) as Response).text()
  const keyRow = sql`select merchant_key from merchant_keys where merchant_id = ${merchant_id} and mode = 'live'`
  expect(keys).toContain((await gateway.db.one<{ merchant_key: string }>(keyRow))?.merchant_key)
  const secret_key = /secret_key<\/dt><dd><code>(\w{64})/.exec(keys)?.[1]
  expect(secret_key).toBeDefined()
  expect(await (await fetch(link)).text()).toContain('This link was used')
  expect(await admin.html(page)).toContain('The link was opened at')
  expect((await fetch(`${link.slice(0, -3)}abc`)).status).toBe(404)
  const left = await gateway.db.one<{ sealed_keys: null }>(sql`
    select sealed_keys from key_handovers where merchant_id = ${merchant_id}`)
  expect(left?.sealed_keys).toBeNull()
})

test('a link that was not opened is replaced once, and the keys before it end', async () => {
  const { submit, merchant_id } = await newMerchant({})
  await submit()
  const page = `${base}/merchants/${merchant_id}`
  const handover = /name="handover" value="(\w+)"/.exec(await admin.html(page))?.[1] ?? ''
  const renew = () => admin.submit(page, `${page}/keys`, { handover })
  const answers = await Promise.all([renew(), renew()])
  expect(locationsOf(answers)).toEqual([`${page}?done=already`, `${page}?done=renewed`])
  const keys = await gateway.db.rows(sql`
    select 1 from merchant_keys where merchant_id = ${merchant_id} and expires_at is null`)
  expect(keys.length).toBe(2)
  await gateway.db.rows(sql`update key_handovers set expires_at = now() where merchant_id = ${merchant_id}`)
  expect(await admin.html(page)).toContain('The link has ended without being opened')
})
