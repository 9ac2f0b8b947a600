import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { merchantSettingNames } from '../../../src/core/merchant/settings.ts'
import { settingTable } from '../../../src/core/merchant/settingTable.ts'
import { sql } from '../../../src/store/db.ts'
import { findMerchant } from '../../../src/store/merchants/merchants.ts'
import { type DashboardClient, formTokenIn, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { plainPng } from '../../support/merchant/pictures.ts'

let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
let base: string
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_REDACT_DAYS: '90' })
  merchant = await gateway.addMerchant()
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  base = `/dashboard/m/${merchant.merchant_id}/live`
})
afterAll(() => gateway.stop())

const stored = async () => (await findMerchant(gateway.db, merchant.merchant_id))?.settings ?? {}
const entries = async () =>
  (
    await gateway.db.rows<{ after: Record<string, string> | null; action: string }>(
      sql`select action, after from audit_entries where merchant_id = ${merchant.merchant_id} order by entry_id`,
    )
  ).map(({ action, after }) => [action, after])
const mails = () =>
  gateway.db.rows<{ details: { change: string } }>(sql`select details from user_mails order by created_at`)

const unescape = (text: string) =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

const logoDigest = async () =>
  (await gateway.db.one<{ digest: string }>(sql`select digest from merchant_logos`))?.digest ?? ''

// The fields of a form, as a browser would submit them.
function fieldsIn(html: string): Record<string, string> {
  const form = /<form[^>]*data-preview-form.*?<\/form>/s.exec(html)?.[0] ?? ''
  const fields: Record<string, string> = {}
  for (const [, tag = ''] of form.matchAll(/<(input[^>]*)>/g)) {
    const name = / name="([^"]+)"/.exec(tag)?.[1]
    if (name) fields[name] = unescape(/ value="([^"]*)"/.exec(tag)?.[1] ?? '')
  }
  for (const [, name = '', options = ''] of form.matchAll(
    /<select[^>]* name="([^"]+)"[^>]*>(.*?)<\/select>/gs,
  ))
    fields[name] = /<option value="([^"]+)" selected/.exec(options)?.[1] ?? ''
  return fields
}

const open = async (group: string, who = owner) => {
  const html = await who.html(`${base}/settings/${group}`)
  return {
    html,
    submit: (typed: Record<string, string>) =>
      fetch(`${gateway.url}${base}/settings/${group}`, {
        method: 'POST',
        headers: { cookie: who.cookie, accept: 'text/html', origin: gateway.url },
        body: new URLSearchParams({ ...fieldsIn(html), ...typed }),
        redirect: 'manual',
      }),
  }
}
const noticeOf = (answer: Response) => answer.headers.get('location')?.split('?')[1]

test('the page shows every setting with what it does, and when personal data is removed', async () => {
  const html = await owner.html(`${base}/settings`)
  for (const name of merchantSettingNames) {
    expect(html).toContain(`<code>${name}</code>`)
    expect(html.replaceAll('&#39;', "'")).toContain(settingTable[name].texts.en.does)
  }
  expect(html).toContain('90 days after a payment ended')
  const french = await signedIn(gateway, {
    member: { merchant_id: merchant.merchant_id, role: 'owner' },
    lang: 'fr',
  })
  const page = await french.html(`${base}/settings`)
  expect(page).toContain('Paramètres')
  expect(page).toContain('90 jours après la fin d’un paiement')
})

test('a changed field is stored, recorded and, submitted twice, changes nothing more', async () => {
  const form = await open('checkout')
  expect(noticeOf(await form.submit({ expiry_minutes: '30' }))).toBe('done=saved')
  expect(noticeOf(await form.submit({ expiry_minutes: '30' }))).toBe('done=unchanged')
  expect(await stored()).toEqual({ expiry_minutes: '30' })
  expect(await entries()).toEqual([['settings.change', { expiry_minutes: '30' }]])
  const again = await open('checkout')
  expect(noticeOf(await again.submit({ expiry_minutes: '', retry_after_failure: 'off' }))).toBe('done=saved')
  expect(await stored()).toEqual({ retry_after_failure: 'off' })
  const back = await open('checkout')
  await back.submit({ retry_after_failure: 'on' }) // the default
  expect(await stored()).toEqual({})
})

test('a form that was opened before another change does not overwrite it, and loses nothing typed', async () => {
  const [one, two] = [await open('checkout'), await open('checkout')]
  await one.submit({ expiry_minutes: '30' })
  const refused = await two.submit({ expiry_minutes: '45', reopen_unpaid: 'off' })
  expect(refused.status).toBe(409)
  const html = await refused.text()
  expect(html).toContain('is now 30')
  expect(html).toMatch(/name="expiry_minutes"[^>]*value="45"/)
  expect(await stored()).toEqual({ expiry_minutes: '30' })
  // The page names the newer value, so submitting it again replaces it.
  const answer = await owner.submit(`${base}/settings/checkout`, `${base}/settings/checkout`, fieldsIn(html))
  expect(noticeOf(answer)).toBe('done=saved')
  expect(await stored()).toEqual({ expiry_minutes: '45', reopen_unpaid: 'off' })
  // Another field may be changed beside.
  const [three, four] = [await open('checkout'), await open('checkout')]
  await three.submit({ expiry_minutes: '20' })
  expect(noticeOf(await four.submit({ reopen_unpaid: 'on' }))).toBe('done=saved')
  expect(await stored()).toEqual({ expiry_minutes: '20' })
})

test('a wrong value is explained beside its field by the rules of merchant set, and nothing is saved', async () => {
  const before = await stored()
  const form = await open('checkout')
  const answer = await form.submit({ expiry_minutes: '3', reopen_unpaid: 'off' })
  const html = await answer.text()
  expect(answer.status).toBe(422)
  expect(html).toContain('must be from 5 to 10080')
  expect(html).toMatch(/id="expiry_minutes"[^>]*aria-invalid="true"/)
  expect(fieldsIn(html)).toMatchObject({ expiry_minutes: '3', reopen_unpaid: 'off' })
  expect(await stored()).toEqual(before)
})

test('a sensitive group needs a confirmed session, and each change of it sends the owners a mail', async () => {
  await gateway.db.rows(sql`update user_sessions set confirmed_at = null where user_id = ${owner.user_id}`)
  const asked = await owner.get(`${base}/settings/notifications`)
  expect([asked.status, asked.headers.get('location')?.split('?')[0]]).toEqual([303, '/dashboard/confirm'])
  await gateway.db.rows(sql`update user_sessions set confirmed_at = now() where user_id = ${owner.user_id}`)
  const form = await open('notifications')
  const owners = 2 // the French one, too
  expect(noticeOf(await form.submit({ ipn_url: 'https://shop.example/ipn' }))).toBe('done=saved')
  expect((await mails()).map(({ details }) => details.change)).toEqual(Array(owners).fill('ipn_url'))
  const origins = await open('requests')
  await origins.submit({ allowed_origins: 'https://shop.example', errors_as_200: 'on' })
  expect((await mails()).map(({ details }) => details.change).filter(one => one === 'settings')).toHaveLength(
    owners,
  )
  const plain = await open('requests')
  await plain.submit({ errors_as_200: 'off' })
  expect(await mails()).toHaveLength(2 * owners)
})

test('other provider accounts need a confirmed session, and the owners get a mail about them', async () => {
  const admin = await signedIn(gateway, { operator: 'admin' })
  const confirm = (at: Date | null) =>
    gateway.db.rows(sql`update user_sessions set confirmed_at = ${at} where user_id = ${admin.user_id}`)
  await confirm(null)
  expect((await admin.get(`${base}/settings/limits`)).headers.get('location')).toContain('/dashboard/confirm')
  await confirm(new Date())
  const before = (await mails()).length
  await (await open('limits', admin)).submit({ rate_burst: '70' })
  expect(await mails()).toHaveLength(before)
  expect(noticeOf(await (await open('limits', admin)).submit({ providers: 'sandbox' }))).toBe('done=saved')
  const changes = (await mails()).slice(before).map(({ details }) => details.change)
  expect(new Set(changes)).toEqual(new Set(['payout']))
})

test('the passwords of style basic are shown once, right after the change', async () => {
  const form = await open('notifications')
  const answer = await form.submit({ ipn_style: 'basic' })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('They are shown only now')
  expect(noticeOf(await form.submit({ ipn_style: 'basic' }))).toBe('done=unchanged')
})

test('what the operator decides is shown to the owner, and a forged field changes nothing', async () => {
  const before = await stored()
  expect((await owner.get(`${base}/settings/fees`)).status).toBe(403)
  const form = await open('requests')
  expect(form.html).not.toContain('name="unsigned_requests"')
  await form.submit({ unsigned_requests: 'on', fee: '0%' })
  await owner.submit(`${base}/settings`, `${base}/settings/fees`, { fee: '0.1%', seen_fee: '' })
  expect(await stored()).toEqual(before)
  const admin = await signedIn(gateway, { operator: 'admin' })
  const fees = await open('fees', admin)
  expect(noticeOf(await fees.submit({ fee: '1.5%' }))).toBe('done=saved')
  expect(await stored()).toEqual({ ...before, fee: '1.5%' })
})

for (const role of ['accountant', 'developer'] as const)
  test(`a user with the role ${role} sees the settings and changes none`, async () => {
    const user = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role } })
    const html = await user.html(`${base}/settings`)
    expect(html).not.toContain('/settings/checkout')
    expect((await user.get(`${base}/settings/checkout`)).status).toBe(403)
    const answer = await user.submit('/dashboard/account', `${base}/settings/checkout`, {
      expiry_minutes: '10',
      seen_expiry_minutes: '20',
    })
    expect(answer.status).toBe(403)
  })

test('a value with markup is text, and one with a tab is not taken for an empty one', async () => {
  const form = await open('branding')
  const markup = '"><script>alert(1)</script>'
  const answer = await form.submit({ refund_policy: markup })
  expect(noticeOf(answer)).toBe('done=saved')
  for (const page of ['', '/branding', '/branding/preview'])
    expect(await owner.html(`${base}/settings${page}`)).not.toContain('<script>alert')
  await (await open('branding')).submit({ refund_policy: 'Within\t7 days' })
  expect(await stored()).toMatchObject({ refund_policy: 'Within 7 days' })
})

test('the preview shows the typed values and refuses a colour without contrast; nothing is saved', async () => {
  const before = await stored()
  const query = new URLSearchParams({ accent: '#5b21b6', support_phone: '0302550100', refund_policy: '<b>x' })
  const answer = await owner.get(`${base}/settings/branding/preview?${query.toString()}`)
  const html = await answer.text()
  expect(html).toContain('/public/accent/5b21b6.css')
  expect(html).toContain('&lt;b&gt;x')
  const policy = answer.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'self'")
  expect(policy).not.toContain('script-src')
  const form = await open('branding')
  const shown = await owner.submit(`${base}/settings/branding`, `${base}/settings/branding/show`, {
    ...fieldsIn(form.html),
    accent: '#ffff00',
  })
  const page = await shown.text()
  expect(page).toContain('has a contrast of')
  expect(fieldsIn(page)).toMatchObject({ accent: '#ffff00' })
  expect(await stored()).toEqual(before)
})

test('the logo is uploaded, replaced only by who has seen it, and removed', async () => {
  const upload = async (file: Buffer, seen: string) => {
    const form_token = formTokenIn(await owner.html(`${base}/settings/branding`))
    const body = new FormData()
    body.set('form_token', form_token)
    body.set('seen', seen)
    body.set('logo', new Blob([new Uint8Array(file)]), 'logo.png')
    return fetch(`${gateway.url}${base}/settings/logo`, {
      method: 'POST',
      headers: { cookie: owner.cookie, accept: 'text/html', origin: gateway.url },
      body,
      redirect: 'manual',
    })
  }
  expect(noticeOf(await upload(plainPng(), ''))).toBe('done=logo')
  const first = await logoDigest()
  expect(noticeOf(await upload(plainPng(), ''))).toBe('done=unchanged')
  expect(noticeOf(await upload(plainPng(128), ''))).toBe('done=stale')
  const wrong = await upload(Buffer.from('<svg/>'), first)
  expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('it is an SVG')])
  expect((await upload(Buffer.alloc(400_000), first)).status).toBe(413)
  expect(await logoDigest()).toBe(first)
  const page = `${base}/settings/branding`
  expect(noticeOf(await owner.submit(page, `${base}/settings/logo/remove`, { seen: first }))).toBe(
    'done=noLogo',
  )
  expect(await logoDigest()).toBe('')
  expect((await entries()).slice(-2).map(([action]) => action)).toEqual(['logo.set', 'logo.remove'])
})

test('an outlet is added once, a cashier is bound to it, and a code with another name is refused', async () => {
  const page = `${base}/settings/outlets`
  expect(await owner.html(`${base}/settings`)).toContain(`href="${page}"`)
  expect(await owner.html(page)).toContain('There are none yet')
  const add = (code: string, name: string, who = owner) => who.submit(page, page, { code, name })
  expect(noticeOf(await add('ACC-1', ' Accra <b>Mall '))).toBe('done=added')
  expect(noticeOf(await add('ACC-1', 'Accra <b>Mall'))).toBe('done=already')
  const listed = await owner.html(page)
  expect(listed).toContain('<code>ACC-1</code>')
  expect(listed).toContain('Accra &lt;b&gt;Mall')
  for (const [code, name, words] of [
    ['ACC-1', 'Another', 'Another outlet has this code'],
    ['a b', 'Osu', 'letters, digits'],
    ['', 'Osu', 'letters, digits'],
    ['osu', ' ', '1 to 120 characters'],
    ['osu', 'x'.repeat(121), '1 to 120 characters'],
  ] as const) {
    const refused = await add(code, name)
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain(words)
  }
  const added = (await entries()).filter(([action]) => action === 'outlet.add')
  expect(added).toEqual([['outlet.add', { name: 'Accra <b>Mall' }]])
  expect(await owner.html(`${base}/settings/team/invite`)).toContain('name="outlet_ACC-1"')
  const developer = await signedIn(gateway, {
    member: { merchant_id: merchant.merchant_id, role: 'developer' },
  })
  expect(await developer.html(page)).not.toContain(`action="${page}"`)
  expect((await developer.submit('/dashboard/account', page, { code: 'x', name: 'X' })).status).toBe(403)
})

test('the documentation lists the settings with the words of the table', () => {
  const docs = readFileSync('docs/dashboard.md', 'utf8')
  for (const name of merchantSettingNames) {
    const { decidedBy, texts } = settingTable[name]
    expect(docs).toContain(`| \`${name}\` | ${texts.en.does} | ${decidedBy} |`)
  }
})
