import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { focusOrder } from '../support/browser/focus.ts'
import { overflow } from '../support/browser/measure.ts'
import { signedIn } from '../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'

let browser: TestBrowser
let gateway: TestGateway
let shop: Receiver
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
  shop = await openReceiver()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await shop?.close()
})

const desk = { width: 1280, height: 900 }
const phone = { width: 390, height: 844 }

// A developer of a new merchant, on the page of keys and endpoint.
async function openDevelopers(options: CustomerOptions) {
  const merchant = await gateway.addMerchant(`ipn_url=${shop.url}/ipn`)
  const member = { merchant_id: merchant.merchant_id, role: 'developer' as const }
  const developer = await signedIn(gateway, { member, lang: options.locale === 'fr-FR' ? 'fr' : 'en' })
  const { page, faults, shoot, close } = await browser.newCustomer(options)
  onTestFinished(close)
  const [name = '', value = ''] = developer.cookie.split('=')
  await page.context().addCookies([{ name, value, url: gateway.url }])
  await page.goto(`${gateway.url}/dashboard/m/${merchant.merchant_id}/test/developers`)
  return { page, faults, shoot, merchant, developer }
}

const checkLook = async (page: Page) => {
  expect(await axeFaults(page)).toEqual([])
  expect(await overflow(page)).toBe(false)
}

const actionsOf = async ({ merchant_id }: TestMerchant) =>
  (
    await gateway.db.rows<{ action: string }>(
      sql`select action from audit_entries where merchant_id = ${merchant_id} order by entry_id`,
    )
  ).map(({ action }) => action)

const keysOf = ({ merchant_id }: TestMerchant) =>
  gateway.db.rows<{ merchant_key: string; expires_at: Date | null }>(sql`
    select merchant_key, expires_at from merchant_keys where merchant_id = ${merchant_id} and mode = 'test'
    order by created_at`)

for (const [screen, options] of [
  ['a phone without scripts', { ...phone, scripts: false }],
  ['a phone at night', { ...phone, dark: true }],
  ['a desk', desk],
] as const)
  test(`a developer tests the endpoint and replaces a key on ${screen}`, async () => {
    const { page, faults, shoot, merchant } = await openDevelopers(options)
    shop.received.length = 0
    await page.getByRole('button', { name: 'Send a test notification' }).click()
    await page.getByText('Your endpoint accepted the test notification: status 200').waitFor()
    await shoot('dashboard-developers-tested')
    await checkLook(page)
    expect(shop.received.map(({ body }) => JSON.parse(body).type)).toEqual(['test'])

    await page.getByLabel('The older ones').first().selectOption('end now')
    await page.getByRole('button', { name: 'Make a new key' }).click()
    await page.getByRole('heading', { name: 'Copy it now' }).waitFor()
    const shown = await page.locator('main').innerText()
    await checkLook(page)
    await page.getByRole('link', { name: 'I have copied it' }).click()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    const [old, made] = await keysOf(merchant)
    expect(shown).toContain(made?.merchant_key)
    expect([old?.expires_at !== null, made?.expires_at]).toEqual([true, null])
    expect(await actionsOf(merchant)).toEqual(['notification.test', 'key.rotate'])
    expect(faults).toEqual([])
  })

test('an endpoint that fails is explained on a phone, in French', async () => {
  const { page, shoot, merchant } = await openDevelopers({ ...phone, scripts: false, locale: 'fr-FR' })
  shop.answerWith((_request, response) => {
    response.statusCode = 503
    response.end('down for repair, call 0240000001')
  })
  onTestFinished(() => shop.answerWith((_request, response) => void response.end('ok')))
  await page.getByRole('button', { name: 'Envoyer une notification de test' }).click()
  await page.getByText(/Votre serveur a répondu avec le statut 503/).waitFor()
  await page.getByText('down for repair, call 024 ••• 0001').waitFor()
  await shoot('dashboard-developers-failed')
  await checkLook(page)
  expect(await actionsOf(merchant)).toEqual(['notification.test'])
})

test('the keyboard alone sends a test notification', async () => {
  const { page, merchant } = await openDevelopers(desk)
  const stops = await focusOrder(page)
  expect(stops.filter(({ outlined }) => !outlined)).toEqual([])
  const at = stops.findIndex(({ name }) => name === 'Send a test notification')
  expect(at).toBeGreaterThan(0)
  await page.reload()
  for (let pressed = 0; pressed <= at; pressed++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('Your endpoint accepted the test notification').waitFor()
  expect(await actionsOf(merchant)).toEqual(['notification.test'])
})
