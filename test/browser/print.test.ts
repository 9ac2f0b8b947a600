import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Customer, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { shopOf } from '../support/checkout/stages.ts'

declare const document: any // the functions given to evaluate() run in the browser
declare const getComputedStyle: any

let gateway: TestGateway
let browser: TestBrowser
let receipt: string
let reference: string

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([testGateway({}, { sandboxPace: 0.05 }), openBrowser()])
  const shop = shopOf(gateway)
  const ama = await shop.merchant('Ama Shop', 'support_phone=0302550100', 'support_email=help@ama.example')
  const line_items = [
    { name: 'Straw hat, large', quantity: 2, total: '20.00' },
    ...Array.from({ length: 8 }, () => ({ name: `Ribbon, ${'very '.repeat(14)}`, total: '0.50' })),
    { name: 'Delivery, Osu', total: '1.00' },
  ]
  const token = await shop.ask(ama, { description: 'hat '.repeat(124), line_items })
  await shop.pay(token, {
    payment_method: 'mtn_mobile_money',
    'mtn_mobile_money.phone': '0244123000',
  })
  await shop.until(token, 'paid')
  receipt = shop.at(`${token}/receipt`)
  reference = await shop.reference(token)
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

for (const dark of [false, true]) {
  describe(`on paper, printed from a ${dark ? 'dark' : 'light'} screen, the receipt`, () => {
    let customer: Customer
    beforeAll(async () => {
      customer = await browser.newCustomer({ width: 1280, dark })
      await customer.page.goto(receipt)
      await customer.page.getByRole('button', { name: 'Print' }).waitFor()
      await customer.page.emulateMedia({ media: 'print', colorScheme: dark ? 'dark' : 'light' })
    })
    afterAll(() => customer.close())

    test('has no buttons', async () => {
      const left = customer.page
        .locator('a[href^="/"], a[href^=http], button, summary, nav')
        .filter({ visible: true })
      expect(await left.allTextContents()).toEqual([])
    })

    test('is black on white', async () => {
      expect(await customer.page.evaluate(coloursOf)).toEqual(['rgb(0, 0, 0) on rgb(255, 255, 255)'])
    })

    test('has the shop, the amount and the reference', async () => {
      const text = (await customer.page.locator('body').innerText()).replaceAll('\u00a0', ' ')
      for (const words of ['Ama Shop', 'GHS 25.00', reference, '024 ••• 3000', 'TEST: no real money moved'])
        expect(text).toContain(words)
    })

    test('has the items and the contact of the shop', async () => {
      const text = (await customer.page.locator('body').innerText()).replaceAll(/[\u00a0\u202f]/g, ' ')
      for (const words of [
        '2 × Straw hat, large',
        '20.00',
        'Delivery, Osu',
        '030 255 0100',
        'help@ama.example',
      ])
        expect(text).toContain(words)
    })

    for (const [paper, size] of [
      ['A4', { format: 'A4' }],
      ['a roll of 80 mm', { width: '80mm', height: '500mm' }],
    ] as const)
      test(`fits on one page of ${paper}`, async () => {
        const pdf = (await customer.page.pdf(size)).toString('latin1')
        expect(pdf).toMatch(/^%PDF-/)
        expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
      })

    test('has a QR code of its address', async () => {
      expect(await customer.page.locator('.itself .qr').isVisible()).toBe(true)
      expect(await customer.page.locator('.itself').innerText()).toContain('Scan to open this receipt')
    })
  })
}

test('the Print button prints', async () => {
  const { page, close } = await browser.newCustomer()
  await page.addInitScript('window.print = () => (window.printed = true)')
  await page.goto(receipt)
  await page.getByRole('button', { name: 'Print' }).click()
  expect(await page.evaluate('window.printed')).toBe(true)
  await close()
})

// The colours of all visible text, each with its background.
function coloursOf(): string[] {
  const groundOf = (element: any): string => {
    const { backgroundColor } = getComputedStyle(element)
    if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor
    return element.parentElement ? groundOf(element.parentElement) : 'rgb(255, 255, 255)'
  }
  const texts = [...document.body.querySelectorAll('*')]
    .filter(element => element.checkVisibility({ visibilityProperty: true }))
    .filter(element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  return [...new Set(texts.map(element => `${getComputedStyle(element).color} on ${groundOf(element)}`))]
}
