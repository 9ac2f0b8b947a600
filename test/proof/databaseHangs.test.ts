import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Credentials } from '../../src/actions/merchants/onboard.ts'
import { type BehindProxy, gatewayBehindProxy } from '../support/gateway/behindProxy.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'
import { followFeed } from '../support/deliveries/notifications.ts'

let house: BehindProxy
let shop: Credentials
let url: string

beforeAll(async () => {
  house = await gatewayBehindProxy()
  shop = await house.register(house.db)
  url = house.gateway.url
})
afterEach(() => house.proxy.release())
afterAll(() => house.stop())

const feed = () => followFeed(url, shop, '')

async function askEverything(request: { invoice_id: string }, checkout_url: string) {
  const { merchant_key } = shop
  const answers = await Promise.all([
    post(url, signedRequest(shop)),
    checkStatus(url, { merchant_key, invoice_id: request.invoice_id }),
    feed(),
    send(checkout_url),
    send(`${checkout_url}/cancel`, { method: 'POST' }),
    send(`${url}/readyz`),
  ])
  return answers.map(({ http }) => http)
}

test('a database that hangs: every route answers so with Retry-After, at once when it is known, and serves again when it is back', async () => {
  const request = signedRequest(shop)
  const { checkout_url } = (await post(url, request)).body
  house.proxy.hold()
  const first = await Promise.all([post(url, signedRequest(shop)), send(checkout_url)])
  expect(first.map(({ http }) => http)).toEqual([503, 503])
  for (const { headers } of first) expect(headers.get('retry-after')).toMatch(/^\d+$/)

  const told = await Promise.race([askEverything(request, checkout_url), sleep(4000, 'waited for it')])
  expect(told).toEqual([503, 503, 503, 503, 503, 503])
  expect((await send(`${url}/readyz`)).text).toBe('not ready: the database does not answer')
  expect((await send(`${url}/healthz`)).http).toBe(200)

  house.proxy.release()
  for (let tries = 0; tries < 100 && (await send(`${url}/readyz`)).http !== 200; tries++) await sleep(50)
  const [initiated, checked, events, page, cancelled, ready] = await askEverything(request, checkout_url)
  expect([initiated, checked, events, page, cancelled, ready]).toEqual([200, 200, 200, 200, 303, 200])
})
