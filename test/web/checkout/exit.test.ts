import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
let aheadMs = 0

beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1, clock: () => new Date(Date.now() + aheadMs) })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const urls = { success_url: 'https://shop.example/thanks', cancelled_url: 'https://shop.example/cart' }

async function newCheckout(fields: Record<string, unknown> = urls, keys = shop.test): Promise<string> {
  const { http, body, text } = await post(gateway.url, signedRequest(keys, fields))
  assert.equal(http, 200, text)
  return body.checkout_url
}

const wallet = (phone: string) => ({
  number: '1',
  payment_method: 'mtn_mobile_money',
  'mtn_mobile_money.phone': phone,
})

// Acts like a browser without scripts: it follows the refresh of the open page.
const unescaped = (text: string) => text.replaceAll('&amp;', '&')
const formOf = (html: string) =>
  gateway.url + unescaped(/<form method="post" action="([^"]+)"/.exec(html)?.[1] ?? '')
const refreshOf = (html: string, address: string) => {
  const [refresh, own] = /http-equiv="refresh" content="\d+(?:; url=(\/[^"]+))?"/.exec(html) ?? []
  return refresh && new URL(unescaped(own ?? ''), address).href
}
const leaves = (html: string) => /http-equiv="refresh" content="4; url=https?:/.test(html)

async function press(html: string, fields: Record<string, string>): Promise<string> {
  const { headers } = await send(formOf(html), { method: 'POST', body: new URLSearchParams(fields) })
  return new URL(headers.get('location') ?? '', gateway.url).href
}

// Reloads until the open page is no longer the waiting page.
async function watch(address: string): Promise<{ address: string; text: string }> {
  for (let looks = 0; looks < 200; looks++) {
    const { text } = await send(address)
    const next = refreshOf(text, address)
    if (next === undefined) return { address, text }
    address = next
    await sleep(50)
  }
  throw new Error('it waits without end')
}

async function untilPaid(url: string) {
  for (let looks = 0; looks < 200; looks++) {
    if ((await send(`${url}/state`)).body.stage === 'paid') return
    await sleep(50)
  }
  throw new Error('it is never paid')
}

async function payWatching(url: string, phone = '0240000000') {
  const { text } = await send(url)
  return watch(await press(text, wallet(phone)))
}

describe('the visit that saw the payment end', () => {
  test('redirects to the shop, and a reload of it does not', async () => {
    const url = await newCheckout()
    const { address, text } = await payWatching(url)
    expect(text).toContain('<h1>Paid</h1>')
    expect(leaves(text)).toBe(true)
    expect(text).toContain('data-go="https://shop.example/thanks" data-after="4"')
    for (const again of [address, url, `${url}?visit=`, `${url}?lang=fr`]) {
      const later = await send(again)
      expect([again, leaves(later.text), later.text.includes('data-go')]).toEqual([again, false, false])
      expect(later.text).toContain('href="https://shop.example/thanks"') // the button stays
      expect(later.text).toContain('<bdi>shop.example</bdi>')
    }
  })

  test('redirects after a cancel, with time to read the host', async () => {
    const url = await newCheckout()
    const { text } = await send(`${url}/cancel`)
    const place = await press(text, {})
    const first = await send(place)
    expect(leaves(first.text)).toBe(true)
    expect(first.text).toContain('Taking you back to <bdi>Ama Shop</bdi> at <bdi>shop.example</bdi>')
    for (const again of [place, url]) expect(leaves((await send(again)).text)).toBe(false)
    expect(leaves((await send(await press(text, {}))).text)).toBe(false) // the old form, pressed again
  })

  test('redirects after a return from the card page, even if the result was stored before', async () => {
    const url = await newCheckout()
    const { text } = await send(url)
    const cardPage = await press(text, { number: '1', payment_method: 'card' })
    const card = { number: '4111111111111111', expiry: '12/40', cvv: '123' }
    await send(cardPage, { method: 'POST', body: new URLSearchParams(card) })
    await untilPaid(url)
    const back = async () => {
      const { headers } = await send(`${url}?back=1`)
      return send(new URL(headers.get('location') ?? '', gateway.url).href)
    }
    expect(leaves((await back()).text)).toBe(true)
    expect(leaves((await back()).text)).toBe(false)
  })

  test('is one on each device', async () => {
    const url = await newCheckout()
    const desk = await send(url)
    const phone = await send(url)
    const deskWaits = await press(desk.text, wallet('0240000000'))
    const phoneSees = await press(phone.text, wallet('0240000000'))
    const [one, other] = await Promise.all([watch(deskWaits), watch(phoneSees)])
    expect([leaves(one.text), leaves(other.text)]).toEqual([true, true])
    expect(one.address).not.toBe(other.address)
  })
})

describe('no visit redirects', () => {
  test('that began after the end', async () => {
    const url = await newCheckout()
    await payWatching(url)
    expect(leaves((await send(url)).text)).toBe(false)
  })

  test('by a shared address, more than a few times or after a while', async () => {
    const url = await newCheckout()
    await payWatching(url)
    const forged = []
    for (let victim = 0; victim < 10; victim++)
      forged.push(leaves((await send(`${url}?visit=forged${victim}`)).text))
    expect(forged.filter(Boolean).length).toBeLessThan(4)
    const other = await newCheckout()
    const { text } = await send(other)
    const waits = await press(text, wallet('0240000000'))
    await untilPaid(other)
    aheadMs = 16 * 60_000
    try {
      expect(leaves((await send(waits)).text)).toBe(false)
    } finally {
      aheadMs = 0
    }
  })

  test('with an invalid id', async () => {
    const url = await newCheckout()
    await payWatching(url)
    for (const name of ['x'.repeat(21), '"><script>', '../x', 'ä']) {
      const { text } = await send(`${url}?visit=${encodeURIComponent(name)}`)
      expect([name, leaves(text)]).toEqual([name, false])
      expect(text).not.toContain('script>"')
    }
  })

  test('to an origin that is no longer registered, or if the setting cannot be read', async () => {
    for (const [settings, note] of [
      [{ allowed_origins: 'https://ama.example' }, 'Continue to <bdi>shop.example</bdi>'],
      [{ allowed_origins: { of: 'a newer version' } }, 'Continue to <bdi>shop.example</bdi>'],
    ] as const) {
      const merchant = await gateway.addMerchant()
      const url = await newCheckout(urls, merchant.test)
      await gateway.db.rows(sql`
        update merchants set settings = ${JSON.stringify(settings)} where merchant_id = ${merchant.merchant_id}`)
      const { text } = await payWatching(url)
      expect([leaves(text), text.includes('data-go')]).toEqual([false, false])
      expect(text).toContain(note)
    }
  })

  test('if the redirect cannot be stored: the result is still shown', async () => {
    const url = await newCheckout()
    const { text } = await send(url)
    const waits = await press(text, wallet('0240000000'))
    await untilPaid(url)
    const tx_token = url.split('/').at(-1)
    await gateway.db.transaction(async tx => {
      await tx.rows(sql`select 1 from payments where tx_token = ${tx_token} for update`)
      const shown = await send(waits)
      expect([shown.http, leaves(shown.text)]).toEqual([200, false])
      expect(shown.text).toContain('<h1>Paid</h1>')
    })
  })
})

test('the notice names the host as a browser resolves it, with its port', async () => {
  for (const [success_url, host] of [
    ['https://müller.example:8443/x', 'xn--mller-kva.example:8443'],
    ['https://xn--pypal-4ve.example/', 'xn--pypal-4ve.example'],
    ['https://раураl.example/', new URL('https://раураl.example/').host],
    ['https://shop.example%2eevil.example/', 'shop.example.evil.example'],
    ['http://2130706433/', '127.0.0.1'],
    [`https://${'a'.repeat(60)}.${'b'.repeat(60)}.example/`, `${'a'.repeat(60)}.${'b'.repeat(60)}.example`],
  ] as const) {
    const { text } = await payWatching(await newCheckout({ success_url }))
    expect(text).toContain(`Taking you back to <bdi>Ama Shop</bdi> at <bdi>${host}</bdi>`)
    expect(host).toMatch(/^[\x21-\x7e]+$/)
  }
})

test('a merchant with registered origins is refused others, and pages redirect to its own', async () => {
  const merchant = await gateway.addMerchant()
  await setMerchant(gateway.db, merchant.merchant_id, ['allowed_origins=https://shop.example'])
  await sleep(600)
  const changed = signedRequest(merchant.test, { success_url: 'https://evil.example/thanks' })
  expect(await post(gateway.url, changed)).toMatchObject({
    http: 400,
    body: { error: { code: 'GW-012', field: 'success_url' } },
  })
  expect(leaves((await payWatching(await newCheckout(urls, merchant.test))).text)).toBe(true)
})
