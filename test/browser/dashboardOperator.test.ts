import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { type DashboardClient, signedIn } from '../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { post, signedRequest } from '../support/merchant/merchant.ts'

let browser: TestBrowser
let gateway: TestGateway
let merchant: TestMerchant
let admin: DashboardClient
let tx_reference: string
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant('payment_methods=mtn_mobile_money,card', 'refund_approval_above=500')
  admin = await signedIn(gateway, { operator: 'admin', name: 'Esi Adjei' })
  const asked = { invoice_id: 'AM-2201', number: '0241234567' }
  tx_reference = (await post(gateway.url, signedRequest(merchant.test, asked))).body.tx_reference
  await addFigures()
  await addTroubles()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

// An hour of payments, as a node has counted them.
async function addFigures() {
  const ended = {
    'test sandbox mtn_mobile_money': { paid: 40, declined: 3, troubled: 0, paidSeconds: 840 },
    'test sandbox card': { paid: 12, declined: 4, troubled: 1, paidSeconds: 410 },
  }
  await gateway.db.rows(sql`
    insert into node_minutes (minute, node, started_live, started_test, counts)
    select date_trunc('minute', now()) - n * interval '1 minute', 'n1', 0, 600 + (n * 37) % 180,
      jsonb_build_object('ended', ${JSON.stringify(ended)}::jsonb, 'refused', 0,
        'delays', '[0,10,40,300,200,40,5,0,0,0,0,0,0]'::jsonb)
    from generate_series(0, 59) n`)
}

// A task, a failing endpoint, a message that was not sent, and a refund without an outcome.
async function addTroubles() {
  const { merchant_id } = merchant
  const attempt_id = `${merchant_id}${tx_reference}`
  await gateway.db.rows(sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, payment_method, state,
      created_at, updated_at)
    values (${merchant_id}, ${attempt_id}, ${tx_reference}, 1, 'sandbox', 'test', 'card', 'unknown', now(), now())`)
  await gateway.db.rows(sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
    values (${merchant_id}, ${attempt_id}, 'unresolved', ${tx_reference}, 2500, 'GHS',
      'The provider has had no outcome since yesterday.', date_trunc('milliseconds', now()) - interval '12 minutes')`)
  await gateway.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries, retry,
      next_try_at, last_try, last_try_at, last_ms, last_status, last_result, last_words)
    values (${merchant_id}, ${tx_reference}, 1, 'test', 'https://shop.akua.example/ipn', 'https://shop.akua.example:443',
      'post', now(), now(), 3, true, now() + interval '1 hour', 3, now(), 12, 503, 'server_error', '')`)
  await gateway.db.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference, state, words, tries,
      created_at, ended_at)
    values (${merchant_id}, 'm1', 'test', 'sms', 'paid', '+233241234567', 'en', ${tx_reference}, 'dropped',
      'the number cannot receive messages', 3, now(), now())`)
  await gateway.db.rows(sql`
    insert into refunds (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_id, source, kind,
      provider_account, amount, currency, requested_by, state, state_reason, created_at, updated_at)
    values (${merchant_id}, ${`${merchant_id}refund`}, 'test', ${tx_reference}, 'AM-2201', ${attempt_id}, 'payment',
      'provider', 'sandbox', 1000, 'GHS', 'operator', 'unknown', 'The provider did not answer.', now(), now())`)
}

const base = '/dashboard/operator'

async function open(path: string, options: CustomerOptions) {
  const { page, shoot, close } = await browser.newCustomer(options)
  onTestFinished(close)
  const [name = '', value = ''] = admin.cookie.split('=')
  await page.context().addCookies([{ name, value, url: gateway.url }])
  await page.goto(`${gateway.url}${path}`)
  return { page, shoot }
}

test('every page of the operator fits a phone and a desk, and axe finds nothing', async () => {
  const pages = [
    ['live', '?mode=test'],
    ['endpoints', '/endpoints?mode=test'],
    ['merchants', '/merchants'],
    ['merchant', `/merchants/${merchant.merchant_id}`],
    ['new-merchant', '/merchants/new'],
    ['accounts', '/accounts'],
    ['account', '/accounts/sandbox'],
    ['new-account', '/accounts/new?provider=paystack'],
    ['tasks', '/tasks'],
    ['task', `/tasks/${merchant.merchant_id}/${tx_reference}/unresolved`],
    ['refunds', '/refunds'],
    ['messages', '/messages'],
    ['search', '/search?q=nothing'],
  ] as const
  const faults: string[] = []
  for (const [width, dark] of [
    [390, true],
    [1280, false],
  ] as const) {
    const { page, shoot } = await open(base, { width, height: width === 390 ? 844 : 900, dark })
    for (const [name, path] of pages) {
      await page.goto(`${gateway.url}${base}${path}`)
      await shoot(`operator-${name}-${width}`)
      expect(await overflow(page), `${name} at ${width}`).toBe(false)
      for (const fault of await axeFaults(page)) faults.push(`${name} at ${width}: ${fault}`)
    }
  }
  expect(faults).toEqual([])
}, 120_000)

test('without scripts, from what needs a person to a closed task, and the database says so', async () => {
  const { page } = await open(`${base}?mode=test`, { width: 390, scripts: false })
  await page.getByRole('link', { name: 'See the tasks' }).click()
  await page.getByRole('link', { name: 'No outcome for a day' }).click()
  await page.getByRole('button', { name: 'Take it' }).click()
  await page.getByLabel('Your note').fill('Asked the provider.')
  await page.getByRole('button', { name: 'Save the note' }).click()
  await page.getByLabel('What you found and did').fill('They do not have the order.')
  await page.getByRole('button', { name: 'Close it' }).click()
  await page.getByText('The task is closed.').waitFor()
  const task = await gateway.db.one(sql`
    select t.owner, t.owner_note, t.closed_note, a.state from tasks t, attempts a where a.attempt_id = t.attempt_id`)
  expect(task).toEqual({
    owner: admin.user_id,
    owner_note: 'Asked the provider.',
    closed_note: 'They do not have the order.',
    state: 'failed',
  })
})

test('on a desk, a merchant is onboarded and another browser opens its keys once', async () => {
  const { page } = await open(`${base}/merchants`, { width: 1280, height: 900 })
  await page.getByRole('link', { name: 'Onboard a merchant' }).click()
  await page.getByLabel('Name').fill('Kente House')
  await page.getByLabel('Origins of its shop').fill('https://kente.example')
  await page.getByLabel('Email of the owner').fill('owner@kente.example')
  await page.getByRole('button', { name: 'Register the merchant' }).click()
  const link = (await page.locator('code', { hasText: '/dashboard/keys/' }).textContent()) ?? ''
  const other = await browser.newCustomer({ width: 390 })
  onTestFinished(other.close)
  await other.page.goto(link)
  await other.page.getByRole('button', { name: 'Show the keys now' }).click()
  const shown = (await other.page.locator('main').textContent()) ?? ''
  const keys = await gateway.db.rows<{ merchant_key: string }>(sql`
    select k.merchant_key from merchant_keys k join merchants m on m.merchant_id = k.merchant_id
    where m.name = 'Kente House'`)
  expect(keys.length).toBe(2)
  for (const { merchant_key } of keys) expect(shown).toContain(merchant_key)
  await other.page.goto(link)
  await other.page.getByText('This link was used').waitFor()
  const invited = await gateway.db.rows(sql`select 1 from user_mails where email = 'owner@kente.example'`)
  expect(invited.length).toBe(1)
})
