import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { onboard, demoId } from '../../src/actions/merchants/onboard.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'

let browser: TestBrowser
let gateway: TestGateway
beforeAll(async () => {
  ;[browser, gateway] = await Promise.all([openBrowser(), testGateway()])
  await onboard(gateway.db, gateway.masterKeys, 'Demo Shop', ['test'], new Date(), demoId)
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const screens: [string, CustomerOptions][] = [
  ['a phone', {}],
  ['a phone at night', { dark: true }],
  ['a desk', { width: 1280, height: 800 }],
  ['a desk at night', { width: 1280, height: 800, dark: true }],
]

for (const [screen, options] of screens)
  for (const [name, path] of [
    ['start', '/docs'],
    ['search', '/docs?q=signature'],
    ['nothing-found', '/docs?q=zebra'],
    ['interface', '/docs/interface'],
    ['sandbox', '/docs/sandbox'],
    ['architecture', '/docs/architecture'],
    ['reference', '/docs/api'],
    ['initiate', '/docs/api/initiatePayment'],
    ['events', '/docs/api/readEvents'],
    ['webhook', '/docs/api/paymentStatus'],
  ] as const)
    test(`the page "${name}" of the documentation can be read on ${screen}`, async () => {
      const { page, faults, shoot, close } = await browser.newCustomer(options)
      onTestFinished(close)
      await page.goto(gateway.url + path)
      await page.waitForLoadState('networkidle')
      if (name !== 'interface') await shoot(`docs-${name}`) // it is too long for a picture
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
      expect(faults).toEqual([])
    })

test('a developer signs and sends a payment on the page, opens it, and checks its status', async () => {
  const { page, faults, shoot, close } = await browser.newCustomer({ width: 1280, height: 800 })
  onTestFinished(close)
  await page.goto(`${gateway.url}/docs/api/initiatePayment`)
  await page.getByText('Filled in for the demo shop of this machine.').waitFor()
  await page.getByRole('button', { name: 'Sign and send' }).click()
  await page.getByRole('link', { name: 'Open the checkout page' }).waitFor()
  const output = (name: string) => page.locator(`[data-output="${name}"]`).textContent()
  expect(await output('string')).toMatch(/^invoice_id=TRY-\w+&merchant_key=tk_\w+&total=25\.00$/)
  expect(await output('hash')).toMatch(/^[0-9a-f]{64}$/)
  expect(await output('curl')).toContain(`curl -sS '${gateway.url}/v1/mobile_agents_v2'`)
  expect(await output('answer')).toMatch(/^HTTP 200 in \d+ ms\n\{\n {2}"success": true/)
  await shoot('docs-tried')
  expect(await axeFaults(page)).toEqual([])
  const invoice = /TRY-\w+/.exec((await output('string')) ?? '')?.[0]
  await page.goto(`${gateway.url}/docs/api/checkStatus`)
  await page.getByText('Filled in for the demo shop of this machine.').waitFor()
  await page.getByRole('button', { name: 'Sign and send' }).click()
  await expect.poll(() => output('answer')).toContain(`"${invoice}"`)
  expect(await output('answer')).toContain('"status": "awaiting_payment"')
  await page.goto(`${gateway.url}/docs/api/readEvents`)
  await page.getByText('Filled in for the demo shop of this machine.').waitFor()
  await page.getByRole('button', { name: 'Sign and send' }).click()
  await expect.poll(() => output('answer')).toContain('"success": true')
  expect(faults).toEqual([])
})

test('the checkout page opens from there, and a refusal is shown with its hint', async () => {
  const { page, close } = await browser.newCustomer()
  onTestFinished(close)
  await page.goto(`${gateway.url}/docs/api/initiatePayment`)
  await page.getByText('Filled in for the demo shop of this machine.').waitFor()
  await page.getByLabel('secret_key').fill('wrong')
  await page.getByRole('button', { name: 'Sign and send' }).click()
  const answer = page.locator('[data-output="answer"]')
  await expect.poll(() => answer.textContent()).toContain('"GW-010"')
  expect(await answer.textContent()).toContain('hashed_string')
  await page.reload()
  await page.getByText('Filled in for the demo shop of this machine.').waitFor()
  await page.getByRole('button', { name: 'Sign and send' }).click()
  await page.getByRole('link', { name: 'Open the checkout page' }).click()
  await page.waitForURL(/\/checkout\/\w{42}/)
})

test('a live key is not taken', async () => {
  const { page, close } = await browser.newCustomer()
  onTestFinished(close)
  await page.goto(`${gateway.url}/docs/api/initiatePayment`)
  await page.getByText('Filled in for the demo shop of this machine.').waitFor()
  await page.getByLabel('merchant_key').fill('lk_1')
  await page.getByRole('button', { name: 'Sign and send' }).click()
  await page.getByText('Never type the secret of a live key into a page.').waitFor()
  expect(await page.locator('[data-result]').isVisible()).toBe(false)
})

test('without scripts the search, the samples and the tables work, and the form says what it needs', async () => {
  const { page, shoot, close } = await browser.newCustomer({ scripts: false })
  onTestFinished(close)
  await page.goto(`${gateway.url}/docs`)
  await page.getByLabel('Search the documentation').fill('GW-010')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('link', { name: 'GW-010', exact: true }).click()
  expect(new URL(page.url()).hash).toBe('#gw-010')
  await page.goto(`${gateway.url}/docs/api/initiatePayment`)
  await page.getByText('PHP', { exact: true }).click()
  await page.getByRole('group', { name: 'PHP sample' }).waitFor()
  expect(await page.getByRole('group', { name: 'curl sample' }).isVisible()).toBe(false)
  await page.getByText('This form signs in your browser, so it needs scripts.').waitFor()
  expect(await page.getByRole('button', { name: 'Sign and send' }).isVisible()).toBe(false)
  await shoot('docs-no-scripts')
})
