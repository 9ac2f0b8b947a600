import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step
const journeys = openJourneys()

// The shop's site. /framed shows the given address in a frame. /printed fetches it without an Accept header, and returns
// the response as the shop's own page.
const server = createServer(({ url = '' }, response) => {
  const address = decodeURIComponent(url.split('?')[1] ?? '')
  response.setHeader('content-type', 'text/html; charset=utf-8')
  const head = '<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">'
  if (url.startsWith('/printed')) get(address, page => page.pipe(response))
  else if (url.startsWith('/framed'))
    response.end(`${head}<h1>The order</h1><iframe src="${address}" width="340" height="700"></iframe>`)
  else response.end(`${head}<h1>The shop</h1>`)
})
let site = ''
beforeAll(async () => {
  await once(server.listen(0, 'localhost'), 'listening')
  site = `http://localhost:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const framed = (address: string) => `${site}/framed?${encodeURIComponent(address)}`
const frameOf = (page: Page) => page.frameLocator('iframe')
const choose = async (frame: FrameLocator, way: string) =>
  frame.getByRole('radio', { name: new RegExp(`^${way}`) }).check()
const pay = (frame: FrameLocator) => frame.getByRole('button', { name: /^Pay / }).click()

async function sell(...settings: string[]) {
  const merchant = await journeys.gateway.addMerchant(...settings)
  const urls = { success_url: `${site}/thanks`, cancelled_url: `${site}/basket` }
  return journeys.shopAsksFor(urls, merchant)
}

describe('a shop that frames the checkout', () => {
  journeys.journey('shows it, and the way back leaves the frame', async ({ page }) => {
    const sale = await sell(`frame_origins=${site}`)
    await page.goto(framed(sale.address))
    const frame = frameOf(page)
    await choose(frame, 'MTN MoMo')
    await frame.getByRole('textbox', { name: en.fields.phone.label }).fill('0240000000')
    await pay(frame)
    await frame.getByRole('heading', { name: en.paid.title, exact: true }).waitFor()
    await page.waitForTimeout(5000) // longer than a page that leaves by itself
    await step.sees(page, 'The order')
    await frame.getByRole('link', { name: /^Back to/ }).click()
    await step.sees(page, 'The shop')
    expect(page.url()).toBe(`${site}/thanks`)
  })

  journeys.journey('and has cards paid in the whole window', async ({ page }) => {
    const sale = await sell(`frame_origins=${site}`)
    await page.goto(framed(sale.address))
    const frame = frameOf(page)
    await choose(frame, 'Card')
    await pay(frame)
    await frame.getByRole('link', { name: en.wait.to_card }).click()
    await page.waitForURL(/\/sandbox\//)
  })

  test('cannot, if its origin is not registered', async () => {
    const customer = await journeys.newCustomer()
    const sale = await sell('frame_origins=https://another.example')
    await customer.page.goto(framed(sale.address))
    await expect.poll(() => customer.faults.join(' ')).toContain('frame-ancestors')
    await customer.close()
  })
})

describe('a shop that shows our page as its own', () => {
  journeys.journey('leads the customer to ours', async ({ page }) => {
    const sale = await sell()
    await page.goto(`${site}/printed?${encodeURIComponent(sale.address)}`)
    await page.waitForURL(sale.address)
    await page.getByRole('radio').first().waitFor()
  })
})
