import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMailServer } from '../messengers/mailServer.ts'
import { join, openCentre } from '../messengers/smsCentre.ts'
import { type Customer, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import {
  type Credentials,
  type TestGateway,
  testGateway,
  type TestMerchant,
} from '../support/gateway/gateway.ts'
import { askFor, type Sale } from '../support/journeys/sale.ts'
import * as step from '../support/journeys/steps.ts'
import { checkStatus } from '../support/merchant/merchant.ts'
import { openReceiver } from '../support/merchant/receiver.ts'

const { en } = step
const soon = { timeout: 20_000, interval: 100 }

let mails: Awaited<ReturnType<typeof openMailServer>>
let centre: Awaited<ReturnType<typeof openCentre>>
let gateway: TestGateway
let browser: TestBrowser
let shop: TestMerchant
let handler: Awaited<ReturnType<typeof openHandler>>

// The shop's program, a mail server and an SMS centre are real servers.
beforeAll(async () => {
  ;[mails, centre, browser] = await Promise.all([openMailServer(), openCentre(), openBrowser()])
  const env = {
    TOLLGATE_EGRESS_LOOPBACK: 'on',
    SMTP_URL: mails.url,
    SMTP_FROM: 'Tollgate <pay@tollgate.example>',
    SMPP_URL: centre.url,
    SMPP_FROM: 'Tollgate',
  }
  gateway = await testGateway(env, { sandboxPace: 0.1 })
  shop = await gateway.addMerchant()
  handler = await openHandler(gateway.url, shop.test)
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await Promise.all([handler?.close(), mails?.stop(), centre?.stop()])
})

const smsTo = (to: string) => join(centre.submits.filter(submit => to.endsWith(submit.to.replace('+', ''))))
const mailsTo = (to: string) => mails.taken.filter(mail => mail.to.includes(to)).map(({ mail }) => mail)

for (const [scripts, number, email] of [
  [true, '233241234561', 'ama@mail.example'],
  [false, '233241234562', 'esi@mail.example'],
] as const) {
  describe(`a payment made on the page, scripts ${scripts ? 'on' : 'off'}`, () => {
    let customer: Customer
    let sale: Sale
    beforeAll(async () => {
      customer = await browser.newCustomer({ scripts })
      sale = await askFor(gateway, shop, { ipn_url: handler.url, number: `+${number}`, email })
      await customer.page.goto(sale.address)
      await step.payWithWallet(customer.page, 'MTN MoMo', '0240000000')
      await step.seesPaid(customer.page)
    })
    afterAll(() => customer?.close())

    test('is notified to the shop, whose program verifies the signature, acknowledges, and gets the same status by a check', async () => {
      const heard = () => handler.heard.filter(({ told }) => told.tx_reference === sale.tx_reference)
      await expect.poll(heard, soon).toHaveLength(1)
      const [{ told, asked } = { told: {}, asked: {} }] = heard()
      const same = { tx_reference: sale.tx_reference, status: 'paid', amount: 25, currency: 'GHS' }
      expect(told).toMatchObject(same)
      expect(asked).toMatchObject({ ...same, payment_time: told.payment_time })
      expect(handler.refused).toEqual([])
    })

    test('the page shows where the receipt is sent', async () => {
      await step.reads(
        customer.page,
        `The receipt goes to 024 ••• ${number.slice(-4)} and ${email[0]}••@mail.example.`,
      )
    })

    test('is sent to the customer by SMS, with the shop, the amount, the reference and a link', async () => {
      await expect.poll(() => smsTo(number), soon).not.toBe('')
      for (const words of ['Ama Shop', 'GHS 25.00', sale.tx_reference, `${sale.address}/receipt`])
        expect(smsTo(number)).toContain(words)
    })

    test('is sent by email, whose link opens the receipt', async () => {
      await expect.poll(() => mailsTo(email), soon).toHaveLength(1)
      const [mail] = mailsTo(email)
      for (const words of ['Ama Shop', '25.00']) expect(mail?.subject).toContain(words)
      for (const words of ['Ama Shop', '25.00', sale.tx_reference]) expect(mail?.text).toContain(words)
      const [, link = ''] = /href="([^"]*\/checkout\/[^"]*)"/.exec(mail?.html ?? '') ?? []
      const reader = await browser.newCustomer({ scripts }) // on another device
      expect(link).toBe(`${sale.address}/receipt`)
      await reader.page.goto(link)
      await step.sees(reader.page, en.receipt.title)
      await step.reads(reader.page, sale.tx_reference)
      expect([...reader.faults, ...customer.faults]).toEqual([])
      await reader.close()
    })

    test('is notified once', async () => {
      expect(handler.heard.filter(({ told }) => told.tx_reference === sale.tx_reference)).toHaveLength(1)
      expect(mailsTo(email)).toHaveLength(1)
      expect(smsTo(number).split(sale.tx_reference)).toHaveLength(2)
    })
  })
}

type Fields = Record<string, unknown>
type Heard = { told: Fields; asked: Fields }

// The program of a shop as the contract describes it: it verifies the signature, acknowledges, then checks the status.
async function openHandler(gatewayUrl: string, { merchant_key, ipn_secret }: Credentials) {
  const heard: Heard[] = []
  const refused: string[] = []
  const receiver = await openReceiver(({ body, headers, id }, response) => {
    let told: Fields
    try {
      told = new Webhook(ipn_secret).verify(body, headers as Record<string, string>) as Fields
    } catch {
      refused.push(id)
      response.writeHead(401).end()
      return
    }
    response.end('thanks')
    void ask(told)
  })

  async function ask(told: Fields) {
    const { body } = await checkStatus(gatewayUrl, { merchant_key, invoice_id: String(told.invoice_id) })
    heard.push({ told, asked: body as Fields })
  }

  return { url: `${receiver.url}/ipn`, heard, refused, close: receiver.close }
}
