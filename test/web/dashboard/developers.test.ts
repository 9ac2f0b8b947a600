import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { findSigners } from '../../../src/store/merchants/signers.ts'
import type { MerchantRole } from '../../../src/core/access/permissions.ts'
import { sql } from '../../../src/store/db.ts'
import { endpointHealth } from '../../../src/actions/notifications/endpointHealth.ts'
import { addRefusedRequests } from '../../../src/store/requestLog.ts'
import { openForm, submitForm } from '../../support/dashboard/openForm.ts'
import { signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'
import { openReceiver } from '../../support/merchant/receiver.ts'

let gateway: TestGateway
let merchant: TestMerchant
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
  merchant = await gateway.addMerchant('ipn_url=https://ama.example/ipn')
})
afterAll(() => gateway.stop())

const path = (mode = 'test') => `/dashboard/m/${merchant.merchant_id}/${mode}/developers`
const member = (role: MerchantRole) =>
  signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role } })

async function isAccepted(keys: { merchant_key: string; secret_key: string }) {
  const answer = await fetch(`${gateway.url}/v1/mobile_agents_v2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signedRequest(keys)),
  })
  return answer.status === 200
}

const newestKey = async (mode: string) =>
  (
    await gateway.db.one<{ merchant_key: string }>(sql`
      select merchant_key from merchant_keys where merchant_id = ${merchant.merchant_id} and mode = ${mode}
      order by created_at desc, merchant_key desc limit 1`)
  )?.merchant_key ?? ''

const audits = (action: string) =>
  gateway.db.rows<{ subject: string; actor_id: string; after: unknown }>(sql`
    select subject, actor_id, after from audit_entries
    where merchant_id = ${merchant.merchant_id} and action = ${action} order by entry_id`)

const mails = async () =>
  (await gateway.db.rows(sql`select details from user_mails where kind = 'alert'`)).length

const shownIn = (page: string, name: string) =>
  new RegExp(`<code>${name}</code></dt><dd><code>([^<]+)</code>`).exec(page)?.[1] ?? ''

test('a new key works beside the old one, and a revoked key does not', async () => {
  const owner = await member('owner')
  const seen = await newestKey('test')
  const before = await mails()
  const answer = await owner.submit(path(), `${path()}/rotate-key`, { seen, overlap: '24' })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const page = await answer.text()
  const made = { merchant_key: shownIn(page, 'merchant_key'), secret_key: shownIn(page, 'secret_key') }
  expect(made.merchant_key).toMatch(/^tk_/)
  expect(await isAccepted(made)).toBe(true)
  expect(await isAccepted(merchant.test)).toBe(true)
  expect(await mails()).toBeGreaterThan(before)
  expect((await audits('key.rotate')).at(-1)).toMatchObject({
    subject: made.merchant_key,
    actor_id: owner.user_id,
  })
  expect(await owner.html(path())).not.toContain(made.secret_key)

  const key = merchant.test.merchant_key
  const place = { user: owner, page: path(), action: `${path()}/revoke-key`, of: { key } }
  const form = await openForm(gateway.url, place)
  const revoked = (await submitForm(gateway.url, form)) as Response
  expect(revoked.headers.get('location')).toBe(`${path()}?done=revoked`)
  await expect.poll(() => isAccepted(merchant.test), { timeout: 5000 }).toBe(false)
  expect(await isAccepted(made)).toBe(true)
  expect(await audits('key.revoke')).toMatchObject([{ subject: key }])
  const again = (await submitForm(gateway.url, form)) as Response
  expect(again.headers.get('location')).toBe(`${path()}?done=changed`)
  expect(await audits('key.revoke')).toHaveLength(1)
})

test('the last use of a key is shown after its first request', async () => {
  const fresh = await gateway.addMerchant()
  const owner = await signedIn(gateway, { member: { merchant_id: fresh.merchant_id, role: 'owner' } })
  const read = () => owner.html(`/dashboard/m/${fresh.merchant_id}/test/developers`)
  expect(await read()).toContain('Not used yet')
  await isAccepted(fresh.test)
  await expect.poll(read, { timeout: 30_000, interval: 500 }).toMatch(/Last used <\/span>\d{4}-/)
  const rows = await gateway.db.rows(sql`
    select mode from merchant_keys where merchant_id = ${fresh.merchant_id} and last_used_at is not null`)
  expect(rows).toEqual([{ mode: 'test' }])
})

test('the last use of a signing secret is shown after the delivery that it signed', async () => {
  const receiver = await openReceiver()
  const fresh = await gateway.addMerchant(`ipn_url=${receiver.url}/ipn`)
  const owner = await signedIn(gateway, { member: { merchant_id: fresh.merchant_id, role: 'owner' } })
  const read = () => owner.html(`/dashboard/m/${fresh.merchant_id}/test/developers`)
  const { body } = await post(gateway.url, signedRequest(fresh.test))
  await send(`${body.checkout_url}/cancel`, { method: 'POST', body: new URLSearchParams() })
  await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBeGreaterThan(0)
  const rows = () =>
    gateway.db.rows(sql`
      select mode from ipn_secrets where merchant_id = ${fresh.merchant_id} and last_used_at is not null`)
  await expect.poll(rows, { timeout: 30_000, interval: 500 }).toEqual([{ mode: 'test' }])
  expect((await read()).match(/Last used <\/span>\d{4}-/g)).toHaveLength(2) // of the key and of the secret
  await receiver.close()
})

test('of two windows one makes a key', async () => {
  const developer = await member('developer')
  const seen = await newestKey('live')
  const made = (await audits('key.rotate')).length
  const submit = () => developer.submit(path('live'), `${path('live')}/rotate-key`, { seen })
  const answers = await Promise.all([submit(), submit()])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 303])
  expect(await audits('key.rotate')).toHaveLength(made + 1)
})

test('a new signing secret is shown once', async () => {
  const owner = await member('owner')
  const page = await owner.html(path())
  const [seen = ''] = /rotate-secret".*?name="seen" value="([^"]*)"/s.exec(page)?.slice(1) ?? []
  const shown = await (await owner.submit(path(), `${path()}/rotate-secret`, { seen, overlap: '0' })).text()
  expect(shownIn(shown, 'ipn_secret')).toMatch(/^whsec_/)
  expect(await audits('ipn_secret.rotate')).toHaveLength(1)
})

test('a replaced signing secret is revoked once, and the newest never', async () => {
  const owner = await member('owner')
  const newest = async () =>
    /rotate-secret".*?name="seen" value="([^"]*)"/s.exec(await owner.html(path()))?.[1] ?? ''
  const replaced = await newest()
  await owner.submit(path(), `${path()}/rotate-secret`, { seen: replaced, overlap: '168' })
  const form = await openForm(gateway.url, { user: owner, page: path(), action: `${path()}/revoke-secret` })
  expect(form.fields.secret).toBe(replaced)
  const revoke = async (secret: string) =>
    (await submitForm(gateway.url, { ...form, fields: { ...form.fields, secret } }))?.headers.get('location')
  expect(await revoke(await newest())).toBe(`${path()}?done=changed`)
  expect(await owner.html(path())).toContain(`Revoke the signing secret ${replaced}`)
  expect(await revoke(replaced)).toBe(`${path()}?done=secretRevoked`)
  expect(await revoke(replaced)).toBe(`${path()}?done=changed`)
  expect(await owner.html(path())).not.toContain(`Revoke the signing secret ${replaced}`)
  expect(await audits('ipn_secret.revoke')).toMatchObject([{ subject: replaced }])
})

test('the password of style basic is replaced once, shown once, and only in its mode', async () => {
  const shop = await gateway.addMerchant()
  await setMerchant(
    gateway.db,
    shop.merchant_id,
    ['ipn_style=basic', 'ipn_url=https://shop.example/ipn'],
    gateway.masterKeys,
  )
  const owner = await signedIn(gateway, { member: { merchant_id: shop.merchant_id, role: 'owner' } })
  const page = `/dashboard/m/${shop.merchant_id}/live/developers`
  const passwords = async () =>
    (await findSigners(gateway.db, gateway.masterKeys, [shop.merchant_id], new Date())).map(
      ({ mode, password }) => ({ mode, password }),
    )
  const before = await passwords()
  const form = await openForm(gateway.url, { user: owner, page, action: `${page}/rotate-password` })
  const answer = (await submitForm(gateway.url, form)) as Response
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const password = shownIn(await answer.text(), 'ipn_password')
  expect(password).toMatch(/^[\w-]{32}$/)
  const expected = before.map(one => (one.mode === 'live' ? { ...one, password } : one))
  expect(await passwords()).toEqual(expected)
  const again = (await submitForm(gateway.url, form)) as Response
  expect(again.headers.get('location')).toBe(`${page}?done=changed`)
  expect(await passwords()).toEqual(expected)
  expect(await owner.html(page)).not.toContain(password)
  const about = sql`merchant_id = ${shop.merchant_id} and action = 'ipn_password.rotate'`
  expect(await gateway.db.rows(sql`select after from audit_entries where ${about}`)).toEqual([
    { after: { mode: 'live', password: 'new' } },
  ])
  const told = sql`select from user_mails where email = (select email from users where user_id = ${owner.user_id})`
  expect(await gateway.db.rows(told)).toHaveLength(1)
  await setMerchant(gateway.db, shop.merchant_id, ['ipn_style=post'])
  expect(await owner.html(page)).not.toContain('rotate-password')
  const late = await owner.submit(page, `${page}/rotate-password`, { seen: 'none' })
  expect(late.headers.get('location')).toBe(`${page}?done=changed`)
})

test('keys ask for the password or a code again', async () => {
  const owner = await member('owner')
  await gateway.db.rows(sql`update user_sessions set confirmed_at = null where user_id = ${owner.user_id}`)
  const answer = await owner.submit(path(), `${path()}/rotate-key`, { seen: await newestKey('test') })
  expect(answer.headers.get('location')).toBe(`/dashboard/confirm?next=${encodeURIComponent(path())}`)
})

test('accountants and cashiers see no keys, operators of support change none', async () => {
  for (const role of ['accountant', 'cashier'] as const)
    expect((await (await member(role)).get(path())).status).toBe(403)
  const support = await signedIn(gateway, { operator: 'support' })
  expect(await support.html(path())).not.toContain('rotate-key')
})

test('a key of another merchant or of the other mode is not revoked', async () => {
  const other = await gateway.addMerchant()
  const owner = await member('owner')
  for (const key of [other.test.merchant_key, await newestKey('live')]) {
    const answer = await owner.submit(path(), `${path()}/revoke-key`, { key, seen: 'never' })
    expect(answer.headers.get('location')).toBe(`${path()}?done=changed`)
  }
  expect(await isAccepted(other.test)).toBe(true)
})

test('refused requests are listed by page with their reasons, of this merchant and mode, without markup', async () => {
  const { merchant_id } = merchant
  const at = Date.now()
  await addRefusedRequests(
    gateway.db,
    Array.from({ length: 52 }, (_, n) => ({
      merchant_id,
      mode: n === 0 ? ('live' as const) : ('test' as const),
      request_id: `req_${String(n).padStart(16, '0')}`,
      refused_at: new Date(at - n * 1000),
      method: 'POST',
      path: '/v1/mobile_agents_v2',
      http: 400,
      code: 'GW-012',
      field: 'total',
      message: `total: number ${n} <script>`,
      hint: null,
      fields: { name: '<b>Ama</b>', number: '024 ••• 3456' },
    })),
  )
  const developer = await member('developer')
  const page = await developer.html(`${path()}/requests`)
  expect(page).toContain('total: number 1 &lt;script&gt;')
  expect(page).toContain('&lt;b&gt;Ama')
  expect(page).not.toContain('total: number 0 ')
  expect(page).not.toContain('total: number 51 ')
  const [, next = ''] = /href="([^"]*before=[^"]*)"/.exec(page) ?? []
  expect(await developer.html(next)).toContain('total: number 51 ')
})

test('the endpoint and its last failures are shown', async () => {
  const { merchant_id } = merchant
  const now = new Date()
  const tx_reference = 'TG-1M7R76-NS0A6R-ZBSC1T'
  await gateway.db.rows(sql`
    insert into notifications (merchant_id, tx_reference, sequence, mode, status, type, body, created_at)
    values (${merchant_id}, ${tx_reference}, 1, 'test', 'paid', 'status', '{}', ${now})`)
  await gateway.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries,
      last_try, last_try_at, last_ms, last_status, last_result, last_words, exhausted_at)
    values (${merchant_id}, ${tx_reference}, 1, 'test', 'https://ama.example/ipn', 'x', 'post', ${now}, ${now}, 7, 7,
      ${now}, 31, 404, 'refused', '', ${now})`)
  const page = await (await member('developer')).html(path())
  expect(page).toContain('https://ama.example/ipn')
  expect(page).toContain('refused by the endpoint')
  expect(page).toContain(`/payments/${tx_reference}`)
})

for (const position of [null, 1000])
  test(`many notifications of the other mode hide none of this one, in the feed (${position}) or not yet`, async () => {
    const { merchant_id } = await gateway.addMerchant('ipn_url=https://ama.example/ipn')
    const now = new Date()
    const first = position ?? 0
    await gateway.db.rows(sql`
      insert into notifications (merchant_id, tx_reference, sequence, mode, status, type, body, created_at, position)
      select ${merchant_id}, 'TG-' || n, 1, case n when 0 then 'live' else 'test' end, 'paid', 'status', '{}',
        ${now}::timestamptz + n * interval '1 second', case when ${position !== null} then ${first} + n end
      from generate_series(0, 250) n`)
    await gateway.db.rows(sql`
      insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries,
        last_try, last_try_at, last_ms, last_status, last_result, last_words, acknowledged_at)
      values (${merchant_id}, 'TG-0', 1, 'live', 'https://ama.example/ipn', 'x', 'post', ${now}, ${now}, 1, 1,
        ${now}, 31, 200, 'acknowledged', '', ${now})`)
    expect(await endpointHealth(gateway.db, merchant_id, 'live')).toMatchObject({ sent: 1, acknowledged: 1 })
  })
