import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { everyRoute } from '../support/dashboard/everyRoute.ts'
import { filledPath, type Part } from '../support/dashboard/filledForms.ts'
import { type SeededRows, seedRows, takePayment } from '../support/dashboard/seedRows.ts'
import { seedOperations, seedTrade } from '../support/dashboard/seedTrade.ts'
import { type DashboardClient, signedIn } from '../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'

// Every page of the dashboard, filled, on a phone at night and on a desk by day: it fits, no text is squeezed, and axe finds
// nothing. The areas have their own tests; this one also finds the page that nobody thought of.

let browser: TestBrowser
let gateway: TestGateway
let rows: SeededRows
let taken: string
const users = new Map<Part, DashboardClient | undefined>()

beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.05 })
  rows = await seedRows(gateway)
  const { merchant_id } = rows.merchant
  const owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' } })
  users.set('merchant', owner)
  users.set('own', owner)
  users.set('operator', await signedIn(gateway, { operator: 'admin', name: 'Esi Adjei' }))
  taken = await takePayment(merchant_id, owner)
  const long = 'Kente & Daughters Wholesale Cloth Merchants of Bonwire Limited'
  await gateway.db.rows(
    sql`update merchants set name = ${long} where merchant_id = ${rows.other.merchant_id}`,
  )
  const now = new Date()
  await seedTrade(gateway, merchant_id, now)
  await seedOperations(gateway, now)
  await confirmAll()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

// Pages that ask for the password or the second factor first were confirmed a moment ago.
const confirmAll = () => gateway.db.rows(sql`update user_sessions set confirmed_at = now()`)

declare const document: any // functions passed to evaluate() run in the browser
declare const getComputedStyle: any

// Texts that are broken into lines of a few letters, and controls whose label does not fit.
const squeezed = (page: Page): Promise<string[]> => page.evaluate(findSqueezed)

function findSqueezed(): string[] {
  return [...document.querySelectorAll('td, th, dt, dd, .btn, .pill, h1, h2, h3')]
    .filter(element => element.checkVisibility() && getComputedStyle(element).clipPath === 'none')
    .filter(element => {
      const text = element.textContent.trim()
      const longest = Math.max(0, ...text.split(/[\s/@.,:-]+/).map((word: string) => word.length))
      const em = Number.parseFloat(getComputedStyle(element).fontSize)
      return longest > 3 && element.clientWidth > 1 && element.clientWidth < Math.min(longest, 8) * em * 0.4
    })
    .map(element => `${element.localName}: ${element.textContent.trim().slice(0, 40)}`)
}

// Not a page, or a page that the others lead to only.
const isPage = (path: string) => !/\.(js|csv)$|\/state$|export|options|preview/.test(path)

const screens = [
  { width: 390, height: 844, dark: true },
  { width: 1280, height: 900 },
] as const

for (const part of ['merchant', 'operator', 'own', 'open'] as const)
  for (const screen of screens)
    test(`${part}, at ${screen.width} pixels: every page fits, and axe finds nothing`, async () => {
      const { page, close } = await browser.newCustomer(screen)
      onTestFinished(close)
      const [name = '', value = ''] = users.get(part)?.cookie.split('=') ?? []
      if (name) await page.context().addCookies([{ name, value, url: gateway.url }])
      await confirmAll()
      const found: string[] = []
      for (const { path } of everyRoute[part].filter(route => route.method === 'get' && isPage(route.path))) {
        const address = filledPath(part, path, rows, rows.merchant, taken)
        await page.goto(gateway.url + address)
        const faults = [...(await axeFaults(page)), ...(await squeezed(page)).map(one => `squeezed ${one}`)]
        if (await overflow(page)) faults.push('too wide')
        found.push(...faults.map(fault => `${path}: ${fault}`))
      }
      expect(found).toEqual([])
    })
