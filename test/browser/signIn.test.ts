import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axeFaults } from '../support/browser/axe.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'

let browser: TestBrowser
let gateway: TestGateway
beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([testGateway({ TOLLGATE_SUPPORT_TOKEN: '' }), openBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const screens: [string, CustomerOptions][] = [
  ['a phone', { width: 360 }],
  ['a phone at night', { width: 360, dark: true }],
  ['a desk', { width: 1280, height: 800 }],
  ['a desk at night', { width: 1280, height: 800, dark: true }],
]

for (const [screen, options] of screens)
  for (const [name, path, heading] of [
    ['refused', '/support', 'Sign in to open this page'],
    ['refused-inbox', '/inbox', 'Sign in to open this page'],
    ['used-link', '/support/enter?link=x', 'This link does not work any more'],
  ] as const)
    test(`the ${name} page shows on ${screen} which command to run`, async () => {
      const { page, faults, shoot, close } = await browser.newCustomer({ ...options, scripts: false })
      onTestFinished(close)
      await page.goto(gateway.url + path)
      await page.getByRole('heading', { name: heading }).waitFor()
      await page.getByText('tollgate support link', { exact: true }).waitFor()
      await shoot(`sign-in-${name}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
      expect(await smallTargets(page)).toEqual([])
      expect(faults.filter(fault => !/40[13]/.test(fault))).toEqual([])
    })

test('one click on the link opens support, and from there the inbox', async () => {
  const { page, shoot, close } = await browser.newCustomer({ scripts: false })
  onTestFinished(close)
  await page.goto(await gateway.supportLink())
  expect(page.url()).toBe(`${gateway.url}/dashboard/first-visit`)
  await page.getByRole('link', { name: 'Support, emails and metrics' }).click()
  await page.waitForURL(`${gateway.url}/support`)
  await shoot('sign-in-done')
  await page.getByRole('link', { name: 'Mails and SMS to customers' }).click()
  await page.getByRole('heading', { name: 'Mails and SMS, newest first' }).waitFor()
  for (const [place, path] of [
    ['Test phone', '/sandbox/phone'],
    ['Inbox', '/inbox'],
    ['Support', '/support'],
    ['Shop', '/'],
  ] as const) {
    await page.getByText('Menu', { exact: true }).click()
    await page.locator('.menu').getByRole('link', { name: place }).click()
    await page.waitForURL(gateway.url + path)
    if (place === 'Shop') break
    expect(await page.locator('.menu [aria-current]').textContent()).toBe(place)
  }
  const cookies = await page.context().cookies()
  expect(cookies[0]).toMatchObject({ name: 'tollgate_support', httpOnly: true, sameSite: 'Lax', path: '/' })
  const names = ['tollgate_support', 'tollgate_first_visit', 'tollgate_form']
  expect(cookies.map(({ name }) => name)).toEqual(names)
})
