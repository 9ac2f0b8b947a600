import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type InitiationRoute, initiate } from '../../../src/actions/interface/initiate.ts'
import { Refusal, Unavailable } from '../../../src/core/interface/refusal.ts'
import type { Mode } from '../../../src/core/mode.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

// Nothing is ever paid here, so that every try counts.
let shop: TestShop
let merchant: TestMerchant
beforeAll(async () => void (shop = await openShop()))
beforeEach(async () => {
  shop.setNow(noon)
  merchant = await shop.addMerchant('Ama Shop', 'unsigned_requests=on', 'rate_limit=0', 'expiry_minutes=1440')
})
afterAll(() => shop.stop())

const wallet = (at: number) => `024${1_000_000 + at}`

const direct = (number: string, mode: Mode = 'live') =>
  signedRequest(merchant[mode], {
    generate_checkout_url: undefined,
    pymt_instrument: number,
    extra_wallet_issuer_hint: 'mtn',
  })
const unsigned = (request: ReturnType<typeof direct>) => ({ ...request, secure_hash: undefined })

// Undefined when it was taken; otherwise the seconds after which it may be repeated.
async function ask(
  request: object,
  route: InitiationRoute = 'api',
  address = '192.0.2.1',
): Promise<number | undefined> {
  try {
    await initiate(shop.runtime, request as ReturnType<typeof direct>, route, address)
    return undefined
  } catch (error) {
    if (error instanceof Unavailable) return ask(request, route, address) // a slow machine; the same again, as told
    expect(error).toMatchObject({ http: 429, code: 'GW-060' })
    return (error as Refusal).retryAfterSeconds
  }
}

async function askAll(many: number, request: (at: number) => object, route: InitiationRoute = 'api') {
  const answers = await Promise.all(Array.from({ length: many }, (_, at) => ask(request(at), route)))
  expect(answers.filter(answer => answer !== undefined)).toEqual([])
}

// It is refused until that many seconds have passed, and not a second longer.
async function expectHonest(request: object, now: Date, waitSeconds: number, route: InitiationRoute = 'api') {
  expect(await ask(request, route)).toBe(waitSeconds)
  shop.setNow(after(seconds(waitSeconds - 1), now))
  expect(await ask(request, route)).toBe(1)
  shop.setNow(after(seconds(waitSeconds), now))
  expect(await ask(request, route)).toBe(undefined)
}

for (const [mode, many] of [
  ['test', 401],
  ['live', 101],
] as const)
  test(`the ${many}st signed ${mode} request of an hour from one server passes: each is another wallet`, async () => {
    await askAll(many - 1, at => direct(wallet(at), mode))
    expect(await ask(direct(wallet(many), mode))).toBe(undefined)
  })

test('one wallet is capped, wherever signed requests for it come from, and the time to wait is true', async () => {
  for (let at = 0; at < 10; at++) {
    shop.setNow(after(minutes(at)))
    expect(await ask(direct(wallet(0)), 'api', `192.0.2.${at}`)).toBe(undefined)
  }
  const now = after(minutes(9) + 300)
  shop.setNow(now)
  await expectHonest(direct(wallet(0)), now, 51 * 60) // 50:59.7 and not a moment less
})

test('after more attempts than allowed, the wait lasts until enough of them have expired', async () => {
  for (let at = 0; at < 15; at++) {
    shop.setNow(after(minutes(at)))
    expect(await ask(direct(wallet(0), 'test'))).toBe(undefined) // of which many more may be
  }
  const now = after(minutes(30))
  shop.setNow(now)
  await expectHonest(direct(wallet(0)), now, 35 * 60) // nine are left when the one of minute 5 has gone
})

test('unsigned ones from one address are capped as before, others pass, and the time to wait is true', async () => {
  for (let at = 0; at < 100; at++) {
    shop.setNow(after(seconds(at)))
    expect(await ask(unsigned(direct(wallet(at))))).toBe(undefined)
  }
  expect(await ask(unsigned(direct(wallet(100))), 'api', '192.0.2.2')).toBe(undefined)
  const now = after(minutes(20))
  shop.setNow(now)
  await expectHonest(unsigned(direct(wallet(101))), now, 40 * 60)
})

test("a signed form is sent by the customer's browser, which could send any wallet: limited by address", async () => {
  await askAll(100, at => direct(wallet(at)), 'form')
  await expectHonest(direct(wallet(100)), noon, hours(1) / 1000, 'form')
})

test('the requests of the server take nothing from the customers at its address', async () => {
  await askAll(101, at => direct(wallet(at)))
  expect(await ask(unsigned(direct(wallet(200))))).toBe(undefined)
})
