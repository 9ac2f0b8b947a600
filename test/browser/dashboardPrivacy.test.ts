import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { findMerchant } from '../../src/store/merchants/merchants.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { type DashboardClient, signedIn } from '../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway } from '../support/gateway/gateway.ts'

let browser: TestBrowser
let gateway: TestGateway
let owner: DashboardClient
let admin: DashboardClient
let merchant_id: string
let base: string

beforeAll(async () => {
  gateway = await testGateway()
  merchant_id = (await gateway.addMerchant()).merchant_id
  owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' } })
  admin = await signedIn(gateway, { operator: 'admin' })
  base = `/dashboard/m/${merchant_id}/live`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

async function open(path: string, who: DashboardClient, options: CustomerOptions) {
  const { page, shoot, close } = await browser.newCustomer(options)
  onTestFinished(close)
  const [name = '', value = ''] = who.cookie.split('=')
  await page.context().addCookies([{ name, value, url: gateway.url }])
  await page.goto(`${gateway.url}${path}`)
  return { page, shoot }
}

for (const scripts of [true, false])
  test(`an owner sees a colour before he saves it, ${scripts ? 'with' : 'without'} scripts`, async () => {
    const colour = scripts ? '#5b21b6' : '#8a1c1c'
    const { page, shoot } = await open(`${base}/settings/branding`, owner, {
      scripts,
      width: scripts ? 1280 : 390,
    })
    await page.fill('#accent', colour)
    if (!scripts) await page.click('text=Show these values')
    const sheet = page.frameLocator('.preview iframe').locator(`link[href*="${colour.slice(1)}"]`)
    await sheet.waitFor({ state: 'attached' })
    expect(await overflow(page)).toBe(false)
    expect((await findMerchant(gateway.db, merchant_id))?.settings.accent).not.toBe(colour)
    await shoot('dashboard-settings-branding')
    await page.click('button:text-is("Save")')
    await page.waitForURL(/done=saved/)
    expect((await findMerchant(gateway.db, merchant_id))?.settings.accent).toBe(colour)
  })

for (const [name, path, who] of [
  ['settings', () => `${base}/settings`, () => owner],
  ['branding', () => `${base}/settings/branding`, () => owner],
  ['notifications', () => `${base}/settings/notifications`, () => owner],
  ["the merchant's audit log", () => `${base}/settings/audit`, () => owner],
  ['audit', () => '/dashboard/operator/audit', () => admin],
  ['privacy', () => '/dashboard/operator/people', () => admin],
] as const)
  for (const options of [{ width: 390, dark: true }, { width: 1280 }])
    test(`${name} at ${options.width} pixels: axe finds nothing, and nothing overflows`, async () => {
      const { page, shoot } = await open(path(), who(), options)
      await shoot(`dashboard-${name.replace(/\W+/g, '-')}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
    })
