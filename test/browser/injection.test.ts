import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addOutlet } from '../../src/store/merchants/merchants.ts'
import { type Customer, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { postForm, shopOf, wallet } from '../support/checkout/stages.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { post, signedRequest } from '../support/merchant/merchant.ts'

declare const document: any // the functions given to evaluate() run in the browser
declare const NodeFilter: any

const run = 'window.hacked=1'
const payloads: Readonly<Record<string, string>> = {
  'plain words': 'Ama Shop',
  markup: '<b>Ama</b><h1>Ama</h1><style>*{display:none}</style><!-- <plaintext>',
  'a script': `"><script>${run}</script><script src=//evil.localhost></script>`,
  'the end of everything': `</script></title></textarea></noscript></p><script>${run}</script>`,
  handlers: `" onfocus="${run}" autofocus tabindex=1 x="' onmouseover='${run}' style='color:red`,
  'loading elements': `<svg onload=${run}><img src=x onerror=${run}><iframe srcdoc="<script>${run}</script>">`,
  'a refresh': `"><meta http-equiv=refresh content="0;url=http://evil.localhost/"><base href=//evil.localhost>`,
  'an address of script': `javascript:${run}//<a href="javascript:${run}">Ama</a>`,
  templates: '{{7*7}}${7*7}<%=7*7%>#{7*7}{amount}{shop}{way}$&$1%s',
  entities: `&lt;script&gt;${run}&lt;/script&gt;&#60;b&#62;&amp;&quot;`,
  'letters that turn the line': 'Ama \u2066\u2067 \u202eliaf',
  'another direction and pictures': 'مرحبا שלום 🎩🏽‍🚀 ɛɔ',
  'one long word': 'W'.repeat(120),
}

let gateway: TestGateway
let browser: TestBrowser
let customer: Customer
let asked = 100

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([testGateway({}, { sandboxPace: 0.05 }), openBrowser()])
  customer = await browser.newCustomer({ width: 320 })
  await customer.page.goto(await gateway.supportLink()) // for the support pages
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const wordsOf = (words: string) => encodeURIComponent(words)

// Opens every page that shows input of a shop or a customer. `look` inspects it.
async function walk(words: string, look: (name: string, shows: boolean) => Promise<void>) {
  const { page } = customer
  const shop = shopOf(gateway)
  const merchant = await shop.merchant(words)
  await addOutlet(gateway.db, {
    merchant_id: merchant.merchant_id,
    code: 'ACC-1',
    name: words,
    created_at: new Date(),
  })
  const path = words.replaceAll(/[\s\\]/g, '')
  const fields = {
    description: words.repeat(60).slice(0, 480),
    name: words,
    email: `${path.replaceAll('@', '').slice(0, 200)}@shop.example`,
    extra_note: words,
    extra_outlet: 'ACC-1',
    success_url: `http://shop.localhost/${path}?${path}#${path}`,
    cancelled_url: `http://shop.localhost/?${path}`,
    deferred_url: `http://shop.localhost/#${path}`,
  }
  const ask = () => shop.ask(merchant, fields)
  const pay = async (way: Record<string, string>) => {
    const token = await ask()
    await shop.pay(token, way)
    return token
  }
  const go = async (name: string, address: string, shows = true) => {
    await page.goto(address.startsWith('http') ? address : gateway.url + address)
    await look(name, shows)
  }
  await page.route('http://shop.localhost/**', route => route.fulfill({ status: 204 }))

  const fresh = await ask()
  await go('choose', shop.at(fresh))
  await go('choose in a strange language', shop.at(`${fresh}?lang=${wordsOf(words)}&again=${wordsOf(words)}`))
  await page.locator('#telecel_cash').check()
  await page.locator('[id="telecel_cash.phone"]').fill(words)
  await page.locator('[id="telecel_cash.voucher_code"]').fill(words)
  await send(page)
  expect(await page.locator('[id="telecel_cash.phone"]').inputValue()).toBe(words)
  await look('choose with typed words', true)
  await page.evaluate(renameWay, words)
  await send(page)
  await look('choose with a strange way', true)
  await go('cancel', shop.at(`${fresh}/cancel`))

  const phone = `0244${String(++asked).padStart(3, '0')}456`
  const waiting = await pay(wallet(phone))
  const prompt = await shop.attempt(waiting)
  await go('wait', shop.at(waiting))
  await go('wait, cancel', shop.at(`${waiting}/cancel`))
  await go('test phone', `/sandbox/phone/${prompt}`)
  await go('test phone by number', `/sandbox/phone?number=${phone}`)
  await go('test phone by words', `/sandbox/phone?number=${wordsOf(words)}`, false)
  await postForm(`${gateway.url}/sandbox/phone/${prompt}`, { decision: 'approve' })
  await shop.until(waiting, 'paid')
  await go('test phone, decided', `/sandbox/phone/${prompt}`)
  await go('paid', shop.at(waiting))
  expect(await page.locator('main a.btn.big').getAttribute('href')).toBe(fields.success_url)
  await go('paid, leaving', shop.at(`${waiting}?visit=one`))
  expect(await page.locator('main').getAttribute('data-go')).toBe(fields.success_url)
  await go('receipt', shop.at(`${waiting}/receipt`))
  await go('failed', shop.at(await shop.until(await pay(wallet('0244123002')), 'failed')))

  const byCard = await pay({ payment_method: 'card' })
  const card = `/sandbox/card/${await shop.attempt(byCard)}`
  await go('wait for a card', shop.at(byCard))
  await go('card', card)
  for (const field of ['number', 'expiry', 'cvv', 'name']) await page.locator(`#${field}`).fill(words)
  await page.getByRole('button', { name: 'Pay GHS' }).click()
  await page.getByRole('alert').waitFor()
  await look('card with typed words', true)
  await postForm(gateway.url + card, { number: '4242424242424242', expiry: '09/40', cvv: '123' })
  await go('3-D Secure', `${card}/3ds`)
  await go('support, found', `/support?q=${await shop.reference(byCard)}`)
  await go('support, words', `/support?q=${wordsOf(words)}`, false)
  await go('no payment', `/checkout/${wordsOf(words)}`, false)
  const door = new URLSearchParams({ merchant_key: words, invoice_id: words, total: words, [words]: words })
  await go('form door', `/gateway?${door.toString()}`, false)
}

async function send(page: Page) {
  const answered = page.waitForEvent('load') // the page before may have an alert, too
  await page.getByRole('button', { name: 'Pay GHS' }).click()
  await answered
  await page.getByRole('alert').waitFor()
}

function renameWay(words: string) {
  document.querySelector('#telecel_cash').value = words
  document.querySelector('[name=number]').value = words
}

// Bidi controls are removed, and the rest of the text is kept.
const plain = (text: string) => text.replaceAll(/[\u202a-\u202e\u2066-\u2069\s]/g, '')
const homes = () => [gateway.url, 'http://shop.localhost']
const shapes = new Map<string, string>()

for (const [what, words] of Object.entries(payloads)) {
  test(`${what} in every field stays text on every page`, { timeout: 60_000 }, async () => {
    const { page, faults } = customer
    await walk(words, async (name, shows) => {
      const shape = await page.evaluate(shapeOf)
      if (what === 'plain words') shapes.set(name, shape)
      else expect(shape, name).toBe(shapes.get(name))
      const text = await page.evaluate(textOf)
      if (shows) expect(plain(text), name).toContain(plain(words))
      expect(await page.evaluate('window.hacked'), name).toBe(undefined)
      expect(await page.evaluate(turnedAmounts), name).toEqual([])
      expect(await overflow(page), name).toBe(false)
      expect(new URL(page.url()).origin, name).toBe(gateway.url)
    })
    expect(faults.splice(0)).toEqual([])
    const strangers = (await customer.origins()).filter(origin => !homes().includes(origin))
    expect(strangers).toEqual([])
  })
}

// Every element with the names of its attributes: plain text does not change them.
function shapeOf(): string {
  return [...document.querySelectorAll('*')]
    .map(element => `${element.localName}[${element.getAttributeNames().join(' ')}]`)
    .join('\n')
}

function textOf(): string {
  const typed = [...document.querySelectorAll('input')].map(input => input.value)
  return [document.documentElement.textContent, ...typed].join('\n')
}

// Amounts that are rendered reversed: right-to-left letters of a name may reorder the text after them.
function turnedAmounts(): string[] {
  const turned: string[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.data.indexOf('GHS 25.00')
    if (at < 0) continue
    const edge = (from: number) => {
      const range = document.createRange()
      range.setStart(node, from)
      range.setEnd(node, from + 1)
      return range.getBoundingClientRect()
    }
    const [first, last] = [edge(at + 4), edge(at + 8)]
    if (first.width > 0 && first.top === last.top && first.left > last.left) turned.push(node.data)
  }
  return turned
}

describe('values that every field refuses', () => {
  let merchant: TestMerchant
  beforeAll(async () => {
    merchant = await shopOf(gateway).merchant('Ama Shop')
  })
  const refused = async (fields: Record<string, unknown>) => {
    const { http, body } = await post(gateway.url, signedRequest(merchant.test, fields))
    return { http, code: body.error?.code, field: body.error?.field }
  }

  const texts = ['invoice_id', 'description', 'name', 'email', 'number', 'extra_note', 'extra_outlet']
  const urls = ['success_url', 'cancelled_url', 'deferred_url', 'ipn_url']
  for (const field of [...texts, ...urls]) {
    test(`${field} with control characters`, async () => {
      const breaks = field === 'description' ? [] : ['\r\n', '\n'] // those become spaces there
      for (const control of ['\0', ...breaks, '\x1b', '\x7f', '\x85', '\ud800']) {
        const value = urls.includes(field) ? `https://shop.example/${control}x` : `a${control}b`
        expect(await refused({ [field]: value }), JSON.stringify(control)).toMatchObject({ http: 400, field })
      }
    })
  }

  test('invoice_id with markup', async () => {
    for (const invoice_id of [
      '<b>',
      'a"b',
      "a'b",
      'a&b',
      'a=b',
      '{{a}}',
      'a?b',
      'é',
      '\u202ea',
      'a'.repeat(26),
    ])
      expect(await refused({ invoice_id }), invoice_id).toMatchObject({ http: 400, field: 'invoice_id' })
  })

  for (const url of [
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https:evil.example',
    'https:/evil.example',
    'https:///evil.example',
    'https:\\\\evil.example',
    'https://evil.example\\@shop.example',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://shop.example',
    'blob:https://shop.example/1',
    'https://shop.example@evil.example',
    'https://shop:secret@evil.example/',
    'https://shop.example%40@evil.example',
    'https://evil.example/\r\nset-cookie: a=b',
    'https://evil.example/\0',
    'https://evil.example/\u2028',
    'https://evil.example /',
    ' https://evil.example',
    'https://',
    'https://?x',
    'https://#x',
    'https://evil example',
    'https://[::1',
    'https://%00.example',
    'shop.example',
    '/thanks',
    '?x',
  ]) {
    test(`${JSON.stringify(url)} as an address`, async () => {
      for (const field of urls) expect(await refused({ [field]: url })).toMatchObject({ http: 400, field })
    })
  }

  test('input with control characters', async () => {
    const shop = shopOf(gateway)
    const token = await shop.ask(merchant)
    for (const control of ['\0', '\r\nset-cookie: a=b', '\x1b[2J', '\x85']) {
      const typed = `024${control}4123456`
      for (const way of ['mtn_mobile_money', 'telecel_cash'])
        for (const voucher of ['123456', typed]) {
          const fields = { payment_method: way, [`${way}.phone`]: typed, [`${way}.voucher_code`]: voucher }
          const { http, headers } = await shop.pay(token, fields)
          expect({ http, cookie: headers.get('set-cookie') }).toEqual({ http: 422, cookie: null })
        }
    }
  })
})
