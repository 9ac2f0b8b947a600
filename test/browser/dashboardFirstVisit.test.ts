import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { demoId, welcome } from '../../src/actions/merchants/onboard.ts'
import { sql } from '../../src/store/db.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { focusOrder } from '../support/browser/focus.ts'
import { overflow } from '../support/browser/measure.ts'
import { testGateway, type TestGateway } from '../support/gateway/gateway.ts'

// A fresh installation of this machine, whose link opens the demo shop's dashboard and the operator's. The last test
// creates the first account, which ends this.
let browser: TestBrowser
let gateway: TestGateway
beforeAll(async () => {
  ;[browser, gateway] = await Promise.all([
    openBrowser(),
    testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { hasDemo: true, sandboxPace: 0.3 }),
  ])
  await welcome(gateway.db, gateway.masterKeys, new Date())
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const desk = { width: 1280, height: 900 }
const phone = { width: 390, height: 844 }
const checkLook = async (page: Page) => {
  // Without scripts some pages reload by themselves.
  expect((await axeFaults(page)).filter(fault => !fault.startsWith('meta-refresh'))).toEqual([])
  expect(await overflow(page)).toBe(false)
}

// A browser that opens the link of the terminal.
async function enter(options: CustomerOptions) {
  const { page, faults, shoot, close } = await browser.newCustomer(options)
  onTestFinished(close)
  await page.goto(await gateway.supportLink())
  await page.getByRole('heading', { name: 'Your gateway is running' }).waitFor()
  return { page, faults, shoot }
}

const realUsers = () => gateway.db.rows(sql`select from users where not is_demo`)
const newestOrder = () =>
  gateway.db.one<{ tx_reference: string; status: string }>(sql`
    select tx_reference, status from payments where merchant_id = ${demoId} order by created_at desc limit 1`)

for (const [screen, options] of [
  ['a phone without scripts', { ...phone, scripts: false }],
  ['a desk', desk],
] as const)
  test(`a newcomer on ${screen} looks around as merchant and operator, and sees the payment just made`, async () => {
    const { page, faults, shoot } = await enter(options)
    await shoot('dashboard-first-visit')
    await checkLook(page)
    const start = page.url()
    await page.getByRole('link', { name: 'See it as the merchant' }).click()
    await page.waitForURL(`${gateway.url}/dashboard/m/${demoId}/test`)
    await checkLook(page)
    await page.goto(start)
    await page.getByRole('link', { name: 'See it as the operator' }).click()
    await page.waitForURL(`${gateway.url}/dashboard/operator`)
    await checkLook(page)

    await page.goto(gateway.url)
    await page.getByLabel('Paid', { exact: true }).check({ force: true })
    const hasWindow = !('scripts' in options)
    const opened = hasWindow ? page.waitForEvent('popup') : undefined
    await page.getByRole('button', { name: /Buy the straw hat/ }).click()
    const checkout = (await opened) ?? page
    await checkout.waitForURL(/\/checkout\//)
    await checkout.getByRole('button', { name: /Pay/ }).first().click()
    await expect.poll(async () => (await newestOrder())?.status, { timeout: 30_000 }).toBe('paid')
    const order = await newestOrder()
    await page.goto(gateway.url)
    await page.getByRole('link', { name: /See it as the merchant/ }).click()
    await page.waitForURL(`${gateway.url}/dashboard/m/${demoId}/test/payments/${order?.tx_reference}`)
    await shoot('dashboard-first-payment')
    await checkLook(page)
    expect(await realUsers()).toEqual([])
    expect(faults).toEqual([])
  })

test('the keyboard alone leads from the link to the first account, which ends the demo', async () => {
  const { page } = await enter(desk)
  const other = await enter(phone)
  const stops = await focusOrder(page)
  expect(stops.filter(({ outlined }) => !outlined)).toEqual([])
  await page.reload()
  const typed = new Map([
    ['Your name', 'Esi Boateng'],
    ['Email', 'esi@example.com'],
    ['Password', 'four words that differ'],
  ])
  for (const { role, name } of stops) {
    await page.keyboard.press('Tab')
    const text = typed.get(name)
    if (role === 'textbox' && text) await page.keyboard.type(text)
    if (name === 'Create the account') break
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/dashboard\/account\/second-factor/)
  await checkLook(page)
  const users = await gateway.db.rows(sql`select name, email, operator_role from users where not is_demo`)
  expect(users).toEqual([{ name: 'Esi Boateng', email: 'esi@example.com', operator_role: 'admin' }])
  await other.page.goto(`${gateway.url}/dashboard/m/${demoId}/test`)
  await other.page.waitForURL(/\/dashboard\/sign-in/)
})
