import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axeFaults } from '../support/browser/axe.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'

let browser: TestBrowser
let gateway: TestGateway
beforeAll(async () => {
  ;[browser, gateway] = await Promise.all([openBrowser(), testGateway()])
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const screens: [string, CustomerOptions][] = [
  ['the smallest phone', { width: 320 }],
  ['a phone at night, in French', { dark: true, locale: 'fr-FR' }],
  ['a desk', { width: 1280, height: 800 }],
]

for (const [screen, options] of screens)
  for (const [name, path] of [
    ['home', '/'],
    ['nowhere', '/payments/1042'],
  ] as const)
    test(`the ${name} page can be used on ${screen}`, async () => {
      const { page, faults, shoot, close } = await browser.newCustomer({ ...options, scripts: false })
      onTestFinished(close)
      await page.goto(gateway.url + path)
      await shoot(`${name}${options.locale ? '-fr' : ''}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
      expect(await smallTargets(page)).toEqual([])
      expect(faults.filter(fault => !fault.includes('404'))).toEqual([])
    })

test('a page that is not found links to the start page, and that to the documentation, in the chosen language', async () => {
  const { page, close } = await browser.newCustomer({ scripts: false })
  onTestFinished(close)
  await page.goto(`${gateway.url}/payments/1042`)
  await page.getByRole('link', { name: 'Français' }).click()
  await page.getByRole('heading', { name: 'Il n’y a rien à cette adresse' }).waitFor()
  await page.goto(`${gateway.url}/payments/1042`)
  await page.getByRole('link', { name: 'Go to the start page' }).click()
  await page.getByRole('link', { name: 'the documentation' }).click()
  expect(new URL(page.url()).pathname).toBe('/docs')
})
