import { inflateSync } from 'node:zlib'
import { encode } from 'uqr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { qrPng } from '../../../src/web/checkout/qrCode.tsx'
import { openMailServer } from '../../messengers/mailServer.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { send } from '../../support/merchant/merchant.ts'
import {
  newRefundId,
  paidInvoice,
  postRefund,
  refundWhen,
  signedRefund,
} from '../../support/merchant/refunds.ts'
import { shopOf, wallet } from '../../support/checkout/stages.ts'

const urls = { success_url: 'https://shop.example/thanks' }
const told = { ...urls, number: '+233244123456', email: 'ama@example.com' }

let mails: Awaited<ReturnType<typeof openMailServer>>
let gateway: TestGateway // with a mail server, and without a way to send SMS
let aheadMs = 0

beforeAll(async () => {
  mails = await openMailServer()
  const env = { SMTP_URL: mails.url, SMTP_FROM: 'pay@tollgate.example', TOLLGATE_MESSAGES_PER_RECIPIENT: '2' }
  gateway = await testGateway(env, { sandboxPace: 0.05, clock: () => new Date(Date.now() + aheadMs) })
})
afterAll(async () => {
  await gateway.stop()
  await mails.stop()
})

async function paid(fields: Record<string, unknown>, by = wallet('0240000000')) {
  const shop = shopOf(gateway)
  const token = await shop.ask(await shop.merchant('Ama Shop'), fields)
  await shop.pay(token, by)
  await shop.until(token, 'paid')
  return shop.at(token)
}

const refundMail = () => mails.taken.find(({ mail }) => mail.subject?.includes('Refunded: GHS 10.00'))

test('a refund is told by mail, and the page and a second receipt show it', async () => {
  const email = 'akua@example.com'
  const merchant = await gateway.addMerchant()
  const { invoice_id, checkout_url: url } = await paidInvoice(gateway.url, merchant.test, { email })
  expect((await send(url)).text).not.toContain('Refunded')
  const refund_id = newRefundId()
  await postRefund(gateway.url, signedRefund(merchant.test, { invoice_id, refund_id, reason: 'secret' }))
  await refundWhen(gateway.url, merchant.test, refund_id)
  await expect.poll(() => refundMail()?.to, { timeout: 20_000 }).toContain(email)
  expect(refundMail()?.mail.text).not.toContain('secret')
  for (const path of ['', '/receipt']) {
    const { text } = await send(url + path)
    expect(text).toMatch(/Refunded<\/dt><dd><bdi>GHS 10\.00, /)
    expect(text).not.toContain('secret')
  }
})

const goes = (html: string) => /<p class="muted goes">(.*?)<\/p>/s.exec(html)?.[1]?.replace(/<[^>]+>/g, '')
const mailTo = (address: string) => mails.taken.find(({ to }) => to.includes(address))?.mail.text
const leaves = (html: string) => /data-go=|http-equiv="refresh"/.test(html)

describe('the paid page shows where the receipt is sent', () => {
  test('if a messenger sends it', async () => {
    const url = await paid(told)
    expect(goes((await send(url)).text)).toBe('The receipt goes to a••@example.com.')
    expect(goes((await send(`${url}?lang=fr`)).text)).toBe('Le reçu est envoyé à a••@example.com.')
    expect((await send(url)).text).not.toMatch(/ama@|244123456|0244/)
  })

  test('nothing if there is no recipient or no messenger', async () => {
    for (const fields of [urls, { ...urls, number: '+233244123456' }])
      expect(goes((await send(await paid(fields))).text)).toBeUndefined()
  })

  test('nothing if a cap has dropped the message', async () => {
    const email = 'esi@example.com'
    for (const sent of [true, true, false]) {
      const url = await paid({ email })
      const said = async () => goes((await send(url)).text) !== undefined
      await expect.poll(said).toBe(sent)
    }
  })
})

test('the mail of a paid payment links to its receipt', async () => {
  const url = await paid({ email: 'kofi@example.com' })
  await expect.poll(() => mailTo('kofi@example.com')).toContain(`${url}/receipt`)
})

describe('a later visit does not redirect', () => {
  test('from the mail, on another device, back, and after 20 minutes', async () => {
    const shop = shopOf(gateway)
    const token = await shop.ask(await shop.merchant('Ama Shop'), told)
    await shop.pay(token, wallet('0240000000'))
    await shop.until(token, 'paid')
    const seen = `${shop.at(token)}?visit=one`
    expect(leaves((await send(seen)).text)).toBe(true) // the visit that saw it end, and it alone
    for (const minutes of [0, 20]) {
      aheadMs = minutes * 60_000
      for (const path of [seen, shop.at(token), `${shop.at(token)}?lang=fr`, `${shop.at(token)}/receipt`]) {
        const { http, text } = await send(path)
        expect([path, minutes, http, leaves(text)]).toEqual([path, minutes, 200, false])
        expect(text).toContain('href="https://shop.example/thanks"')
      }
    }
    aheadMs = 0
    const receipt = `${shop.at(token)}/receipt?visit=two`
    for (let visit = 0; visit < 2; visit++) expect(leaves((await send(receipt)).text)).toBe(false)
  })

  test('nor a waiting page that was open for 20 minutes', async () => {
    const url = await paid(told)
    aheadMs = 20 * 60_000
    try {
      expect(leaves((await send(`${url}?visit=kept`)).text)).toBe(false)
    } finally {
      aheadMs = 0
    }
  })
})

describe('the receipt', () => {
  test('has the link back with its host, a QR code of its address, and the text to copy', async () => {
    const url = await paid(told)
    const { text } = await send(`${url}/receipt`)
    const reference = /TG-[\w-]+/.exec(text)?.[0]
    expect(text).toContain('href="https://shop.example/thanks" rel="noreferrer"')
    expect(text).toContain('<bdi>shop.example</bdi>')
    expect(text).toMatch(new RegExp(`<button [^>]*data-copy="${reference}" [^>]*hidden`))
    const { data } = encode(`${url}/receipt`, { border: 2, maskPattern: 3 })
    const drawn = data.map(row => row.map(() => false))
    for (const [, x, y, run] of text.matchAll(/M(\d+) (\d+)\.5h(\d+)/g))
      drawn[Number(y)]?.fill(true, Number(x), Number(x) + Number(run))
    expect(drawn).toEqual(data)
  })

  test('of an unpaid payment redirects to its page', async () => {
    const shop = shopOf(gateway)
    const token = await shop.ask(await shop.merchant('Ama Shop'), urls)
    const { http, headers } = await send(`${shop.at(token)}/receipt`)
    expect([http, headers.get('location')]).toEqual([303, `/checkout/${token}`])
  })
})

describe('a QR code for the gallery', () => {
  test('is that of the waiting attempt, and does not exist without one', async () => {
    const shop = shopOf(gateway)
    const token = await shop.ask(await shop.merchant('Ama Shop'), urls)
    expect((await send(shop.at(`${token}/code.png`))).http).toBe(303)
    await shop.pay(token, { payment_method: 'ghqr' })
    const answer = await fetch(shop.at(`${token}/code.png`))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    const row = await gateway.db.one<{ qr: string }>(sql`
      select qr from attempts join payments using (merchant_id, tx_reference) where tx_token = ${token}`)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(qrPng(row?.qr ?? '') ?? []))
  })

  test('has every module, with the quiet zone', () => {
    const text = 'https://pay.example/q/123'
    const { data } = encode(text, { border: 4, maskPattern: 3 })
    expect(squaresOf(Buffer.from(qrPng(text) ?? []))).toEqual(data)
  })

  test('does not exist for an empty text, or one that is too long for a phone', () => {
    expect([qrPng(''), qrPng('x'.repeat(1001))]).toEqual([undefined, undefined])
  })
})

// Decodes a PNG, and reads the middle of each square of eight pixels.
function squaresOf(png: Buffer): boolean[][] {
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12)
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND'])
  const head = chunks.get('IHDR') ?? Buffer.alloc(0)
  expect([...head.subarray(8)]).toEqual([1, 0, 0, 0, 0])
  const side = head.readUInt32BE(0)
  const pixels = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  const line = Math.ceil(side / 8) + 1
  expect([head.readUInt32BE(4), pixels.length]).toEqual([side, side * line])
  const isDark = (x: number, y: number) =>
    (((pixels[y * line + 1 + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1) === 0
  return Array.from({ length: side / 8 }, (_, y) =>
    Array.from({ length: side / 8 }, (__, x) => isDark(x * 8 + 4, y * 8 + 4)),
  )
}
