import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults } from '../support/browser/axe.ts'
import { focusOrder } from '../support/browser/focus.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { pollCharge, openTestSandbox, postForm, type TestSandbox, createdCharge } from './context.ts'

const sizes = ({ scrollWidth, scrollHeight }: any) => ({ wide: scrollWidth, high: scrollHeight })

let site: TestSandbox
let browser: TestBrowser
const paths = new Map<string, string>()
beforeAll(async () => {
  ;[site, browser] = await Promise.all([openTestSandbox(1), openBrowser()])
  const long = {
    payee: 'Ama and Sons Import and Export Company',
    note: 'hat'.repeat(60),
    amount: '999999.99',
  }
  const wallet = (changes: object = {}) => createdCharge(site, { payer: '233241234567', ...changes })
  const card = (changes: object = {}) => createdCharge(site, { method: 'card', payer: undefined, ...changes })
  const typed = { number: '4242424242424242', expiry: '09/40', cvv: '123' }
  const declined = await wallet()
  await postForm(site, `/sandbox/phone/${declined}`, { decision: 'decline' })
  const secure = await card()
  await postForm(site, `/sandbox/card/${secure}`, typed)
  const cancelled = await card()
  await postForm(site, `/sandbox/card/${cancelled}/cancel`)
  await wallet(long)
  for (const [name, path] of [
    ['phone', '/phone'],
    ['phone-prompts', '/phone?number=0241234567'],
    ['phone-no-prompts', '/phone?number=0249999999'],
    ['phone-wrong', '/phone?number=hello'],
    ['prompt', `/phone/${await wallet()}`],
    ['prompt-long', `/phone/${await wallet(long)}`],
    ['prompt-framed', `/phone/${await wallet()}?framed=1`],
    ['prompt-declined', `/phone/${declined}`],
    ['card', `/card/${await card()}`],
    ['card-long', `/card/${await card(long)}`],
    ['card-3ds', `/card/${secure}/3ds`],
    ['card-over', `/card/${cancelled}`],
    ['lost', '/card/nowhere'],
  ] as const)
    paths.set(name, `${site.url}/sandbox${path}`)
})
afterAll(async () => {
  await browser.close()
  await site.stop()
})

for (const [width, dark] of [
  [320, false],
  [1280, true],
] as const) {
  test(`every page is accessible and fits at ${width} pixels, ${dark ? 'dark' : 'light'}`, async () => {
    const customer = await browser.newCustomer({ scripts: false, width, dark })
    for (const [name, url] of paths) {
      await customer.page.goto(url)
      await customer.shoot(`sandbox-${name}`)
      await expectSound(customer.page, name)
      for (const { name: stop, outlined } of await focusOrder(customer.page))
        expect(outlined, `${name}: ${stop}`).toBe(true)
    }
    await customer.page.goto(paths.get('card') ?? '')
    await customer.page.getByRole('button', { name: 'Pay GHS' }).click()
    await customer.page.getByRole('alert').waitFor()
    await expectSound(customer.page, 'card with mistakes')
    expect(customer.faults).toEqual([])
    expect(await customer.origins()).toEqual([site.url])
    await customer.close()
  }) // every page with all checks
}

async function expectSound(page: Parameters<typeof axeFaults>[0], name: string) {
  expect(await axeFaults(page), name).toEqual([])
  expect(await overflow(page), name).toBe(false)
  expect(await smallTargets(page), name).toEqual([])
}

describe('a person without scripts', () => {
  test('approves on the phone and follows the link back', async () => {
    const { page, faults, close } = await browser.newCustomer({ scripts: false })
    const reference = await createdCharge(site)
    await page.goto(`${site.url}/sandbox/phone`)
    await page.getByLabel('Wallet number').fill('024 123 4567')
    await page.getByRole('button', { name: 'Show requests' }).click()
    await page.locator(`a[href$="${reference}"]`).click()
    await page.getByRole('heading', { name: 'Ama Shop asks for GHS 25.00' }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Type a PIN. Any digits will do.').waitFor()
    await page.getByLabel('Test PIN').fill('0000')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await page.getByText(/You paid GHS 25.00 to Ama Shop. Transaction \d+/).waitFor()
    await page.getByRole('link', { name: 'Back to the checkout' }).click()
    await page.getByRole('heading', { name: 'Back' }).waitFor()
    expect((await pollCharge(site, reference)).body.status).toBe('SUCCESSFUL')
    expect(faults).toEqual([])
    await close()
  })

  test('sends the PIN with the Enter key, and declines with Cancel', async () => {
    const { page, close } = await browser.newCustomer({ scripts: false })
    const [paid, declined] = [await createdCharge(site), await createdCharge(site)]
    await page.goto(`${site.url}/sandbox/phone/${paid}`)
    await page.getByLabel('Test PIN').fill('1')
    await page.getByLabel('Test PIN').press('Enter')
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await page.goto(`${site.url}/sandbox/phone/${declined}`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Declined' }).waitFor()
    expect((await pollCharge(site, paid)).body.status).toBe('SUCCESSFUL')
    expect((await pollCharge(site, declined)).body.reason).toBe('APPROVAL_REJECTED')
    await close()
  })

  test('answers on the phone in a frame of 300 by 600 pixels', async () => {
    const { page, faults, close } = await browser.newCustomer({ scripts: false, width: 1280 })
    const reference = await createdCharge(site)
    await page.goto(`${site.url}/beside?phone=${reference}`)
    const phone = page.frameLocator('iframe')
    await phone.getByRole('button', { name: 'Send' }).waitFor()
    const box = await phone.locator('html').evaluate(sizes)
    expect(box).toEqual({ wide: 300, high: 600 }) // nothing has to be scrolled
    await phone.getByLabel('Test PIN').fill('1')
    await phone.getByRole('button', { name: 'Send' }).click()
    await phone.getByText('You paid GHS 25.00').waitFor()
    expect(await phone.getByRole('link').count()).toBe(0)
    expect(await phone.locator('html').evaluate(sizes)).toEqual({ wide: 300, high: 600 })
    expect(faults).toEqual([])
    await close()
  })

  test('mistypes a card, corrects it, passes 3-D Secure and returns', async () => {
    const { page, faults, close } = await browser.newCustomer({ scripts: false })
    const reference = await createdCharge(site, { method: 'card', payer: undefined })
    await page.goto(`${site.url}/sandbox/card/${reference}`)
    await page.getByLabel('Card number').fill('4242 4242 4242 4241')
    await page.getByLabel('Expiry date').fill('09/40')
    await page.getByLabel('CVV').fill('123')
    await page.getByLabel('Name on the card').fill('Ama')
    await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
    await page.getByRole('link', { name: 'A digit is wrong' }).click()
    expect(await page.getByLabel('Name on the card').inputValue()).toBe('Ama')
    expect(await page.getByLabel('Card number').inputValue()).toBe('')
    await page.getByLabel('Card number').fill('4242 4242 4242 4242')
    await page.getByLabel('CVV').fill('123')
    await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
    await page.getByLabel('Code').fill('246810')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Back' }).waitFor()
    expect((await pollCharge(site, reference)).body.card).toMatchObject({
      last4: '4242',
      responseCode: '00',
    })
    expect(faults).toEqual([])
    await close()
  })

  test('cancels the card page', async () => {
    const { page, close } = await browser.newCustomer({ scripts: false })
    const reference = await createdCharge(site, { method: 'card', payer: undefined })
    await page.goto(`${site.url}/sandbox/card/${reference}`)
    await page.getByRole('button', { name: 'Cancel and go back' }).click()
    await page.getByRole('heading', { name: 'Back' }).waitFor()
    expect((await pollCharge(site, reference)).body.reason).toBe('PAYER_CANCELLED')
    await close()
  })
})
