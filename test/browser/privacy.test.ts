import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { shopOf } from '../support/checkout/stages.ts'

type Visit = { url: string; headers: IncomingHttpHeaders }

let gateway: TestGateway
let browser: TestBrowser
let shopSite: Server
let shopUrl: string
const visits: Visit[] = []

// The shop's site, on another origin, records what browsers send.
beforeAll(async () => {
  shopSite = createServer(({ url = '', headers }, answer) => {
    visits.push({ url, headers })
    answer.setHeader('content-type', 'text/html').end('<!doctype html><title>Shop</title><h1>Thank you</h1>')
  })
  await once(shopSite.listen(0, '127.0.0.1'), 'listening')
  shopUrl = `http://127.0.0.1:${(shopSite.address() as AddressInfo).port}`
  ;[gateway, browser] = await Promise.all([testGateway({}, { sandboxPace: 0.2 }), openBrowser()])
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  shopSite?.closeAllConnections()
  shopSite?.close()
})

const phone = '0244987650'
const contact = '0207654321'
const cards = ['5555-5555-5555-4444', '4242 4242 4242 4241', '4242424242424242']
const secrets = ['246810', 'Kofi', 'kofi@mail.example']

// Whole journeys: a wallet, a card that fails, is mistyped and passes, a cancel; and each time back to the shop.
test('no log line and no other site gets the payer, the instrument or the address of the payment', {
  timeout: 60_000,
}, async () => {
  const shop = shopOf(gateway)
  const merchant = await shop.merchant('Ama Shop')
  const { page, faults } = await browser.newCustomer()
  const urls = { success_url: `${shopUrl}/thanks`, cancelled_url: `${shopUrl}/cart` }
  const customer = { name: 'Kofi Mensah', email: 'kofi@mail.example', number: contact }
  const tokens: string[] = []
  const open = async () => {
    const token = await shop.ask(merchant, { ...urls, ...customer })
    tokens.push(token)
    await page.goto(shop.at(token))
  }
  const press = (name: string) => page.getByRole('button', { name }).click()
  const typeCard = async (number: string, cvv: string) => {
    await page.locator('#number').fill(number)
    await page.locator('#expiry').fill('09/40')
    await page.locator('#cvv').fill(cvv)
    await page.locator('#name').fill('Kofi Mensah')
    await press('Pay GHS 25.00')
  }

  await open()
  await page.locator('#mtn_mobile_money').check()
  await page.getByText('Use another number').filter({ visible: true }).click()
  await page.locator('[id="mtn_mobile_money.phone"]').fill('02449876')
  await press('Pay GHS 25.00')
  await page.getByRole('alert').waitFor()
  await page.locator('[id="mtn_mobile_money.phone"]').fill(phone)
  await press('Pay GHS 25.00')
  const link = page.getByRole('link', { name: 'Open the test phone' })
  await page.goto(new URL((await link.getAttribute('href')) ?? '', page.url()).href)
  await page.getByLabel('Test PIN').fill('4711')
  await press('Send')
  await page.getByRole('link', { name: 'Back to the checkout' }).click()
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()

  await open()
  await page.locator('#card').check()
  await press('Pay GHS 25.00')
  await typeCard('5555-5555-5555-4444', '739')
  await page.getByRole('link', { name: 'Pay another way' }).click()
  await page.locator('#card').check()
  await press('Pay GHS 25.00')
  await typeCard('4242 4242 4242 4241', '123')
  await page.getByRole('alert').waitFor()
  await typeCard('4242424242424242', '123')
  await page.locator('#code').fill('246810')
  await press('Confirm')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()

  await open()
  await page.getByRole('link', { name: 'Cancel this payment' }).click()
  await press('Yes, cancel')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()

  expect(faults).toEqual([])
  expect(visits.map(({ url }) => url).filter(url => url !== '/favicon.ico')).toEqual([
    '/thanks',
    '/thanks',
    '/cart',
  ])
  for (const { headers } of visits) {
    expect(headers).not.toHaveProperty('cookie')
    if (headers.referer) expect(headers.referer.startsWith(shopUrl)).toBe(true) // its own icon
  }
  const logs = gateway.logs.join('\n')
  expect(gateway.logs.length).toBeGreaterThan(20)
  const digits = [phone, contact].flatMap(number => [number, number.slice(1)])
  const numbers = cards.flatMap(number => [number, number.replaceAll(/\D/g, '')])
  for (const secret of [...tokens, ...digits, ...numbers, ...secrets])
    expect(logs, secret).not.toContain(secret)
})
