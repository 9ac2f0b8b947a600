import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCheckouts } from '../../../src/store/payments/paymentLife.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { type Answer, post, send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
let aheadMs = 0
const clock = () => new Date(Date.now() + aheadMs)

beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1, clock })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const shopUrls = { success_url: 'https://shop.example/thanks', cancelled_url: 'https://shop.example/cart' }

async function newCheckout(fields: Record<string, unknown> = {}, keys = shop.test): Promise<string> {
  const { http, body, text } = await post(gateway.url, signedRequest(keys, fields))
  assert.equal(http, 200, text)
  return body.checkout_url
}

const submit = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  })

const wallet = (phone: string, number = 1) => ({
  number: String(number),
  payment_method: 'mtn_mobile_money',
  'mtn_mobile_money.phone': phone,
  'telecel_cash.phone': '', // hidden, and sent all the same
})
const payBy = (url: string, phone: string, number = 1) => submit(`${url}/pay`, wallet(phone, number))

async function until(url: string, stage: string): Promise<Answer> {
  for (let tries = 0; tries < 150; tries++) {
    const { body } = await send(`${url}/state`)
    if (body.stage === stage) return send(url)
    await sleep(100)
  }
  throw new Error(`${url} never came to ${stage}`)
}

const pathOf = (url: string) => new URL(url).pathname

describe('every answer', () => {
  test('has strict headers', async () => {
    const url = await newCheckout()
    const answers = await Promise.all([
      send(url),
      send(`${url}/state`),
      send(`${url}/cancel`),
      send(`${url}/receipt`),
      send(`${gateway.url}/checkout/nothing`),
      submit(`${url}/pay`, {}),
      submit(`${url}/pay`, {}, { 'sec-fetch-site': 'cross-site' }),
    ])
    for (const { headers } of answers) {
      const policy = headers.get('content-security-policy')
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ])
        expect(policy).toContain(part)
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-request-id')).toMatch(/^req_/)
      expect(headers.get('set-cookie')).toBeNull()
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test('is compressed if the client accepts it', async () => {
    const { hostname, port, pathname } = new URL(await newCheckout())
    const path = `${pathname}?visit=one` // or each would have a name of its own
    const { request } = await import('node:http')
    const raw = (accept: string) =>
      new Promise<{ encoding?: string; vary?: string; bytes: Buffer }>((resolve, reject) => {
        const headers = { accept: 'text/html', 'accept-encoding': accept }
        request({ hostname, port, path, headers }, answer => {
          const chunks: Buffer[] = []
          answer.on('data', chunk => chunks.push(chunk))
          answer.on('end', () =>
            resolve({
              encoding: answer.headers['content-encoding'],
              vary: answer.headers.vary,
              bytes: Buffer.concat(chunks),
            }),
          )
        })
          .on('error', reject)
          .end()
      })
    const [zipped, plain] = [await raw('gzip, br'), await raw('identity')]
    expect(zipped).toMatchObject({ encoding: 'gzip', vary: 'accept-encoding' })
    expect(plain).toMatchObject({ encoding: undefined, vary: 'accept-encoding' })
    expect(gunzipSync(zipped.bytes).toString()).toBe(plain.bytes.toString())
    expect(zipped.bytes.length).toBeLessThan(5000)
  })

  test('has files in the best compression that the client accepts', async () => {
    const { origin } = new URL(await newCheckout())
    for (const name of ['checkout.css', 'checkout.js']) {
      const as = async (accept: string) => {
        const answer = await fetch(`${origin}/public/${name}`, { headers: { 'accept-encoding': accept } })
        const { headers } = answer
        const length = Number(headers.get('content-length'))
        return { encoding: headers.get('content-encoding'), length, text: await answer.text() }
      }
      const [br, gzip, plain] = [await as('gzip, deflate, br'), await as('gzip'), await as('identity')]
      expect([br.encoding, gzip.encoding, plain.encoding]).toEqual(['br', 'gzip', null])
      expect(new Set([br.text, gzip.text, plain.text]).size).toBe(1)
      expect(br.length).toBeLessThan(gzip.length)
      expect(gzip.length).toBeLessThan(plain.length)
    }
  })

  test('links files that may be cached permanently', async () => {
    const { text } = await send(await newCheckout())
    const files = [...text.matchAll(/(?:src|href)="(\/public\/[^"]+)"/g)].map(match => match[1])
    expect(files).toHaveLength(3)
    for (const file of files) {
      const answer = await send(gateway.url + file)
      expect(answer.http).toBe(200)
      expect(answer.headers.get('cache-control')).toContain('immutable')
    }
    const other = await send(`${gateway.url}/public/checkout.js?v=0123456789`)
    expect(other.headers.get('cache-control')).toBe('no-cache') // of another release
  })

  test('has the language of the browser, or the chosen one', async () => {
    const url = await newCheckout()
    const french = { 'accept-language': 'fr-TG, en;q=0.5' }
    expect((await send(url)).text).toContain('How would you like to pay?')
    expect((await send(url, { headers: french })).text).toContain('Comment souhaitez-vous payer')
    expect((await send(`${url}?lang=en`, { headers: french })).text).toContain('How would you like to pay?')
    const chosen = await submit(`${url}/pay?lang=fr`, wallet('0240000000'))
    expect(chosen.headers.get('location')).toBe(`${pathOf(url)}?lang=fr`)
    const unknown = await send(`${gateway.url}/checkout/nothing?lang=fr`)
    expect(unknown.http).toBe(404)
    expect(unknown.text).toContain('Il n’y a pas de paiement à cette adresse')
  })
})

describe('paying', () => {
  for (const [how, path, headers, lang] of [
    ['of the browser', '/pay', { 'accept-language': 'fr-TG, en;q=0.5' }, 'fr'],
    ['that was chosen', '/pay?lang=en', { 'accept-language': 'fr' }, 'en'],
    ['that we have, where nothing is said', '/pay', {}, 'en'],
  ] as const)
    test(`the attempt stores the language ${how}`, async () => {
      const url = await newCheckout()
      await submit(`${url}${path}`, wallet('0240000000'), headers)
      const key = { merchant_id: shop.merchant_id, tx_token: url.split('/').at(-1) ?? '' }
      const [checkout] = await findCheckouts(gateway.db, [key])
      expect(checkout?.attempts.map(attempt => attempt.lang)).toEqual([lang])
    })

  test('from the form to the receipt', async () => {
    const url = await newCheckout({ ...shopUrls, description: 'Two hats' })
    expect((await send(`${url}/receipt`)).headers.get('location')).toBe(pathOf(url))
    const paying = await submit(`${url}/pay?visit=one`, wallet('024 000 0000'))
    expect([paying.http, paying.headers.get('location')]).toEqual([303, `${pathOf(url)}?visit=one`])
    const waiting = await send(url)
    expect(waiting.text).toMatch(/024 ••• 0000|Paid/)
    const paid = await until(url, 'paid')
    expect(paid.http).toBe(200)
    expect(paid.text).toContain('<title>Paid · GHS 25.00 · Ama Shop</title>')
    expect((await send(`${url}?visit=one`)).text).toContain('data-go="https://shop.example/thanks"')
    const receipt = await send(`${url}/receipt`)
    for (const words of ['Two hats', 'MTN MoMo 024\u00a0•••\u00a00000', 'GMT', 'TEST'])
      expect(receipt.text).toContain(words)
    expect(receipt.text).not.toContain('data-go') // it stays
    expect((await send(`${url}/cancel`)).headers.get('location')).toBe(pathOf(url))
  })

  test('twice at once is one attempt', async () => {
    const url = await newCheckout()
    const both = await Promise.all([payBy(url, '0244123456'), payBy(url, '0244123456')])
    for (const { http, headers } of both) expect([http, headers.get('location')]).toEqual([303, pathOf(url)])
    const { body } = await send(`${url}/state`)
    expect(body).toMatchObject({ stage: 'wait', words: 'We are waiting for the answer.' })
    expect(body.version).toMatch(/^wait-1-/)
    expect((await payBy(url, '0240000000', 2)).http).toBe(303) // while one is on its way
    expect((await send(`${url}/state`)).body.version).toMatch(/^wait-1-/)
  })

  test('by card redirects to the page of the sandbox', async () => {
    const url = await newCheckout()
    const { http, headers } = await submit(`${url}/pay`, { number: '1', payment_method: 'card' })
    expect(http).toBe(303)
    expect(headers.get('location')).toMatch(new RegExp(`^${gateway.url}/sandbox/card/`))
    const back = await send(url)
    expect(back.text).toContain('Continue to the card page')
    expect(back.text).toContain(`href="${headers.get('location')}"`)
  })

  test('a customer who returns from the card page sees the result at once', async () => {
    const url = await newCheckout()
    const { headers } = await submit(`${url}/pay`, { number: '1', payment_method: 'card' })
    const card = { number: '4111111111111111', expiry: '12/40', cvv: '123' }
    const done = await submit(headers.get('location') ?? '', card)
    expect(done.headers.get('location')).toBe(`${url}?back=1`)
    const back = await send(`${url}?back=1`)
    expect([back.http, back.headers.get('location')]).toEqual([303, `${new URL(url).pathname}?visit=back-1`])
    expect((await send(url)).text).toContain('<title>Paid ·')
  })

  test('by QR code shows the code', async () => {
    const url = await newCheckout()
    await submit(`${url}/pay`, { number: '1', payment_method: 'ghqr' })
    expect((await send(url)).text).toMatch(/Scan to pay.*<svg [^>]*class="qr"/s)
  })

  test('the link to the phone is a separate picture, which only a wide screen loads', async () => {
    const url = await newCheckout()
    expect((await send(url)).text).toContain(`src="${new URL(url).pathname}/qr.svg"`)
    const picture = await send(`${url}/qr.svg`)
    expect(picture.headers.get('content-type')).toBe('image/svg+xml')
    expect(picture.text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*<\/svg>$/s)
  })

  test('another amount is disputed', async () => {
    const url = await newCheckout()
    await payBy(url, '0244123009')
    const { text } = await until(url, 'disputed')
    expect(text).toContain('Do not pay again')
    expect(text).not.toMatch(/[Nn]othing was/)
  })
})

describe('a faulty form is shown again', () => {
  for (const [what, fields, words] of [
    ['no way', { number: '1' }, 'Choose how you would like to pay.'],
    ['no such way', { number: '1', payment_method: 'shells' }, 'not available now'],
    ['a property for a way', { number: '1', payment_method: 'constructor' }, 'not available now'],
    ['no number', wallet(''), 'please fill this in'],
    ['half a number', wallet('0244 12'), 'this is not a complete number'],
    [
      'a British mobile for a wallet of Ghana',
      wallet('+44 7911 123456'),
      'This number cannot have a wallet of MTN MoMo. Use a mobile number of Ghana, like 024\u00a0412\u00a03456.',
    ],
    ['a landline for a wallet', wallet('030 212 3456'), 'This number cannot have a wallet of MTN MoMo'],
    [
      'letters for a voucher',
      {
        number: '1',
        payment_method: 'telecel_cash',
        'telecel_cash.phone': '0201234567',
        'telecel_cash.voucher_code': 'abc',
      },
      'use digits only',
    ],
  ] as const) {
    test(what, async () => {
      const url = await newCheckout()
      const { http, text } = await submit(`${url}/pay`, fields)
      expect(http).toBe(422)
      expect(text).toMatch(
        new RegExp(`role="alert".*href="#\\w+[.\\w]*">[^<]*(<span class="sr">[^<]*)?${words}`, 's'),
      )
      expect(text).toContain('<title>Check the form · ')
      expect((await send(`${url}/state`)).body.stage).toBe('choose')
    })
  }

  test('in French too', async () => {
    const url = await newCheckout()
    const { text } = await submit(`${url}/pay?lang=fr`, wallet('+44 7911 123456'))
    expect(text).toContain(
      'Ce numéro ne peut pas avoir de compte MTN MoMo. Utilisez un numéro mobile (Ghana)',
    )
  })

  test('with the field marked and the input kept', async () => {
    const url = await newCheckout()
    const { text } = await payBy(url, '0244 "12')
    expect(text).toMatch(
      /<input id="mtn_mobile_money.phone"[^>]*value="0244 &quot;12"[^>]*aria-invalid="true"/,
    )
    expect(text).toContain('aria-describedby="mtn_mobile_money.phone-fault mtn_mobile_money.phone-hint"')
    expect(text).toMatch(/value="mtn_mobile_money" checked/)
    const reloaded = await send(`${url}/pay`)
    expect([reloaded.http, reloaded.headers.get('location')]).toEqual([303, pathOf(url)])
  })
})

describe('a form of another site', () => {
  for (const site of ['cross-site', 'same-site']) {
    test(`(${site}) changes nothing`, async () => {
      const url = await newCheckout()
      const headers = { 'sec-fetch-site': site }
      for (const [path, fields] of [
        ['pay', wallet('0240000000')],
        ['cancel', {}],
      ] as const) {
        const { http, text } = await submit(`${url}/${path}`, fields, headers)
        expect(http).toBe(403)
        expect(text).toContain('This did not come from our page')
      }
      expect((await send(`${url}/state`)).body.version).toBe('choose-0-none')
    })
  }

  test('too large or unreadable, gets a page', async () => {
    const url = await newCheckout()
    const large = await submit(`${url}/pay`, { x: 'x'.repeat(70_000) })
    expect([large.http, large.headers.get('content-type')]).toEqual([413, 'text/html; charset=UTF-8'])
    const twice = await send(`${url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'number=1&number=2',
    })
    expect(twice.http).toBe(400)
    expect(twice.text).toContain('We could not read what was sent')
  })
})

describe('not paid', () => {
  test('shows the reason, and can be tried again', async () => {
    const url = await newCheckout(shopUrls)
    await payBy(url, '0244123002')
    const { text } = await until(url, 'failed')
    for (const words of ['not enough money in the account', 'Nothing was taken.', 'Go back to'])
      expect(text).toContain(words)
    const again = await send(`${url}?again=same`)
    expect(again.text).toContain('name="number" value="2"')
    expect(again.text).toMatch(/Pay from <strong[^>]*>024 ••• 3002</)
    expect(again.text).not.toContain('44123002')
    await payBy(url, '0240000000', 2)
    await until(url, 'paid')
  })

  test('too often shows how long to wait', async () => {
    const url = await newCheckout()
    for (const number of [1, 2]) {
      await payBy(url, '0244123003', number)
      await until(url, 'failed')
    }
    const { http, text, headers } = await payBy(url, '0240000000', 3)
    expect(http).toBe(429)
    expect(text).toMatch(/Wait \d seconds, then try again\./)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(text).toContain('value="0240000000"')
  })

  test('is final if the shop allows one try', async () => {
    const strict = await gateway.addMerchant('retry_after_failure=off')
    const url = await newCheckout(shopUrls, strict.test)
    await payBy(url, '0244123002')
    const { text } = await until(url, 'over')
    expect(text).toContain('You cannot try again here.')
    expect(text).not.toContain('again=same')
  })
})

describe('cancelling', () => {
  test('asks for confirmation, and a second request changes nothing', async () => {
    const url = await newCheckout(shopUrls)
    const { http, text } = await send(`${url}/cancel`)
    expect(http).toBe(200)
    expect(text).toContain('Cancel this payment?')
    for (const visit of ['once', 'twice']) {
      const done = await submit(`${url}/cancel?visit=${visit}`, {})
      expect([done.http, done.headers.get('location')]).toEqual([303, `${pathOf(url)}?visit=${visit}`])
      const page = await send(`${url}?visit=${visit}`)
      expect(page.text).toContain('data-go="https://shop.example/cart" data-after="4"')
      expect(page.text).toContain('content="4; url=https://shop.example/cart"')
    }
    expect((await payBy(url, '0240000000')).headers.get('location')).toBe(pathOf(url))
    expect((await send(`${url}/state`)).body.stage).toBe('cancelled')
  })

  test('during an unresolved attempt explains what may still happen', async () => {
    const url = await newCheckout()
    await payBy(url, '0244123456')
    expect((await send(`${url}/cancel`)).text).toContain('it counts as paid')
    await submit(`${url}/cancel`, {})
    const { text } = await send(url)
    expect(text).toContain('it counts as paid')
    expect(text).not.toMatch(/[Nn]othing was/)
  })
})

describe('no payment method', () => {
  test('in live mode without a provider', async () => {
    const { http, text } = await send(await newCheckout({}, shop.live))
    expect(http).toBe(200)
    expect(text).toContain('You cannot pay here yet')
  })

  test('at a deactivated shop', async () => {
    const gone = await gateway.addMerchant()
    const url = await newCheckout({}, gone.test)
    await gateway.deactivate(gone.merchant_id)
    expect((await send(url)).text).toContain('You cannot pay here now')
  })

  test('after the expiry', async () => {
    const url = await newCheckout(shopUrls)
    aheadMs = 61 * 60_000
    try {
      const { http, text } = await send(url)
      expect(http).toBe(410)
      expect(text).toContain('The time to pay is over')
      expect(text).toContain('href="https://shop.example/cart"')
      expect((await payBy(url, '0240000000')).http).toBe(303)
    } finally {
      aheadMs = 0
    }
  })
})

test('the token is in no log line', async () => {
  const url = await newCheckout()
  await payBy(url, '0240000000')
  await send(`${url}/state`)
  const token = url.split('/').at(-1) ?? ''
  expect(gateway.logs.join('')).not.toContain(token)
})
