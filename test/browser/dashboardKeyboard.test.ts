import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { focusOrder } from '../support/browser/focus.ts'
import { type SeededRows, seedRows } from '../support/dashboard/seedRows.ts'
import { signedIn } from '../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'

// A story of each role by the keyboard alone, at a desk and on a phone, with scripts and without. Each ends in what the
// database then says; that of a role that only looks, in that nothing was changed.

let browser: TestBrowser
let gateway: TestGateway
let rows: SeededRows

beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

declare const document: any // functions passed to evaluate() run in the browser

const mostTabs = 120

// Presses Tab until the focus is on a control with this name.
async function tabTo(page: Page, name: string | RegExp) {
  const passed: string[] = []
  while (passed.length < mostTabs) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate(nameOfFocused)
    if (typeof name === 'string' ? found === name : name.test(found)) return
    passed.push(found)
  }
  throw new Error(`Tab does not lead to ${String(name)}, but to ${passed.join(', ')}`)
}

function nameOfFocused(): string {
  const active = document.activeElement
  const label = active.labels?.[0]?.textContent ?? active.textContent
  return (active.getAttribute('aria-label') ?? label).replaceAll(/\s+/g, ' ').trim()
}

async function press(page: Page, name: string | RegExp) {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name }).first().waitFor()
const one = (query: ReturnType<typeof sql>) => gateway.db.one<{ found: unknown }>(query)

const changes = () => one(sql`select count(*)::int as found from audit_entries`)

type Story = {
  who: Parameters<typeof signedIn>[1]
  at: string
  onlyLooks?: true
  act(page: Page, user_id: string): Promise<unknown>
}

const inTest = () => `/dashboard/m/${rows.merchant.merchant_id}/test`
const member = (role: 'owner' | 'accountant' | 'developer' | 'cashier') => ({
  member: { merchant_id: rows.merchant.merchant_id, role },
})

const countKeys = () =>
  one(sql`
    select count(*)::integer as found from merchant_keys
    where merchant_id = ${rows.merchant.merchant_id} and mode = 'test'`)

const stories: Record<string, () => Story> = {
  owner: () => ({
    who: member('owner'),
    at: `${inTest()}/payments/${rows.merchant.paid}`,
    async act(page) {
      await press(page, 'Refund')
      await heading(page, /^Refund/)
      await tabTo(page, /^All that is left/)
      await page.keyboard.press('ArrowDown')
      await tabTo(page, 'Amount in GHS')
      await page.keyboard.type('1.00')
      await press(page, 'Refund the payment')
      await page.getByText('The refund was requested').waitFor()
      const found = await one(
        sql`select amount as found from refunds where tx_reference = ${rows.merchant.paid}`,
      )
      expect(found).toEqual({ found: 100n })
    },
  }),
  accountant: () => ({
    who: member('accountant'),
    onlyLooks: true,
    at: `${inTest()}/money`,
    async act(page) {
      await press(page, 'Statement')
      await page.waitForURL('**/money/statement')
      await press(page, 'Daily closing')
      await heading(page, /^Closing of/)
    },
  }),
  developer: () => ({
    who: member('developer'),
    at: `${inTest()}/developers`,
    async act(page) {
      const before = await countKeys()
      await press(page, 'Make a new key')
      await heading(page, 'Copy it now')
      expect(await countKeys()).toEqual({ found: Number(before?.found) + 1 })
    },
  }),
  cashier: () => ({
    who: member('cashier'),
    at: `${inTest()}/take`,
    async act(page, user_id) {
      await page.locator('[name=total]:focus').waitFor()
      await page.keyboard.type('12.00')
      await press(page, /^Ask for/)
      await heading(page, 'Waiting for the customer')
      const found = await one(sql`
        select p.total as found from payments p join taken_payments t using (merchant_id, tx_reference)
        where t.user_id = ${user_id}`)
      expect(found).toEqual({ found: 1200n })
    },
  }),
  admin: () => ({
    who: { operator: 'admin' },
    at: '/dashboard/operator?mode=test',
    async act(page, user_id) {
      await press(page, 'See the tasks')
      await heading(page, 'Tasks')
      await press(page, 'No outcome for a day')
      await heading(page, /^No outcome for a day/)
      await press(page, 'Take it')
      await page
        .getByText(/You work on it|Give it back|Leave it/)
        .first()
        .waitFor()
      expect(await one(sql`select owner as found from tasks where owner is not null`)).toEqual({
        found: user_id,
      })
    },
  }),
  finance: () => ({
    who: { operator: 'finance' },
    at: '/dashboard/operator/refunds',
    async act(page) {
      await press(page, /^Approve/)
      await page.getByRole('status').waitFor()
      const found = await one(
        sql`select count(*)::integer as found from refund_approvals where state = 'approved'`,
      )
      expect(found).toEqual({ found: 1 })
    },
  }),
  support: () => ({
    who: { operator: 'support' },
    onlyLooks: true,
    at: '/dashboard/operator',
    async act(page) {
      await tabTo(page, 'Find a payment of any merchant')
      await page.keyboard.type(rows.merchant.paid)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/payments/${rows.merchant.paid}`)
    },
  }),
  'read only': () => ({
    who: { operator: 'read_only' },
    onlyLooks: true,
    at: '/dashboard/operator/merchants',
    async act(page) {
      await press(page, rows.merchant.name)
      await heading(page, rows.merchant.name)
    },
  }),
}

async function open({ who, at }: Story, options: Parameters<TestBrowser['newCustomer']>[0]) {
  const user = await signedIn(gateway, who)
  const { page, close } = await browser.newCustomer(options)
  onTestFinished(close)
  const [name = '', value = ''] = user.cookie.split('=')
  await page.context().addCookies([{ name, value, url: gateway.url }])
  await page.goto(gateway.url + at)
  return { page, user_id: user.user_id }
}

for (const [screen, options] of [
  ['at a desk', { width: 1280, height: 900 }],
  ['at a desk without scripts', { width: 1280, height: 900, scripts: false }],
  ['on a phone', { width: 390, height: 844 }],
  ['on a phone without scripts', { width: 390, height: 844, scripts: false }],
] as const)
  describe(screen, () => {
    beforeAll(async () => {
      gateway = await testGateway({}, { sandboxPace: 0.05 })
      rows = await seedRows(gateway)
    })
    afterAll(() => gateway.stop())

    for (const [role, story] of Object.entries(stories))
      test(`${role}: by the keyboard alone, with a visible focus and a link to the content first`, async () => {
        const told = story()
        const { page, user_id } = await open(told, options)
        const stops = await focusOrder(page)
        expect(stops[0]?.name).toBe('To the content')
        expect(stops.filter(({ outlined }) => !outlined)).toEqual([])
        await page.goto(gateway.url + told.at)
        const before = await changes()
        await told.act(page, user_id)
        if (told.onlyLooks) expect(await changes()).toEqual(before)
      })
  })
