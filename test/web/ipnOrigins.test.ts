import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { redeliver } from '../../src/actions/notifications/redeliver.ts'
import { sql } from '../../src/store/db.ts'
import { triesOfPayment } from '../../src/store/notifications/tries.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { newInvoice, post, type Request, send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'

// The hash does not cover ipn_url: a customer can add one to a form that the shop has signed.
let gateway: TestGateway
let ours: Receiver // the shop's
let theirs: Receiver // the customer's
beforeAll(async () => {
  ;[ours, theirs] = await Promise.all([openReceiver(), openReceiver()])
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
})
afterAll(async () => {
  await gateway.stop()
  await Promise.all([ours.close(), theirs.close()])
})

const change = (merchant: TestMerchant, ...settings: string[]) =>
  setMerchant(gateway.db, merchant.merchant_id, settings, gateway.masterKeys)
const known = () => sleep(600) // a change of settings holds on every node within a second

const modes = ['test', 'live'] as const
type Mode = (typeof modes)[number]

async function basicShop(...settings: string[]) {
  const merchant = await gateway.addMerchant('unsigned_requests=on')
  const chosen = await change(merchant, 'ipn_style=basic', ...settings)
  expect(chosen?.faults).toEqual([])
  const login = (mode: Mode) =>
    `Basic ${Buffer.from(`${merchant[mode].merchant_key}:${chosen?.ipn_passwords?.[mode]}`).toString('base64')}`
  return { merchant, login }
}

// A payment request through each door, as the shop's page or an old client sends it.
const without = (request: Request, name: string): Request => ({ ...request, [name]: '' })
const form = (request: Request) =>
  new URLSearchParams(without(request, 'generate_checkout_url') as unknown as Record<string, string>)
const unsigned = (request: Request) => without(request, 'secure_hash')
const wallet = { pymt_instrument: '0241234999', extra_wallet_issuer_hint: 'mtn' }
const doors: [string, (request: Request) => Promise<{ http: number; body: any }>][] = [
  ...['/', '/gateway', '/gateway/checkout'].flatMap((path): typeof doors => [
    [
      `a signed form at ${path}`,
      request => send(gateway.url + path, { method: 'POST', body: form(request) }),
    ],
    [`a signed link at ${path}`, request => send(`${gateway.url}${path}?${form(request).toString()}`)],
    [
      `an unsigned form at ${path}`,
      request => send(gateway.url + path, { method: 'POST', body: form(unsigned(request)) }),
    ],
  ]),
  ['signed JSON', request => post(gateway.url, request)],
  [
    'an unsigned direct request',
    request => post(gateway.url, { ...unsigned(request), ...wallet, generate_checkout_url: undefined }),
  ],
]

const countOf = async ({ merchant_id }: TestMerchant) =>
  (await gateway.db.rows(sql`select from payments where merchant_id = ${merchant_id}`)).length

async function expectRefused(merchant: TestMerchant, mode: Mode, ipn_url: string) {
  const before = await countOf(merchant)
  for (const [door, ask] of doors) {
    const { http, body } = await ask(signedRequest(merchant[mode], { ipn_url }))
    expect([door, http, body.error?.code, body.error?.field]).toEqual([door, 400, 'GW-012', 'ipn_url'])
    expect(body.request_id).toMatch(/^req_/)
  }
  expect(await countOf(merchant)).toBe(before)
}

async function expectTaken(merchant: TestMerchant, mode: Mode, ipn_url?: string) {
  for (const [door, ask] of doors) {
    const { http } = await ask(signedRequest(merchant[mode], { ipn_url: ipn_url ?? '' }))
    expect([door, http]).toEqual([door, door.includes('JSON') || door.includes('direct') ? 200 : 303])
  }
}

// Cancelled on its page: in live mode too, a notification without a provider.
async function cancelOne(merchant: TestMerchant, mode: Mode, ipn_url: string | undefined) {
  const { body } = await post(gateway.url, signedRequest(merchant[mode], { ipn_url }))
  expect(body).toMatchObject({ success: true })
  await cancelAt(body.url)
  return body.tx_reference as string
}
const cancelAt = (url: string) => send(`${url}/cancel`, { method: 'POST' })

const arrived = async (receiver: Receiver, tx_reference: string, count = 1) => {
  await expect.poll(() => receiver.of(tx_reference).length).toBe(count)
  return receiver.of(tx_reference).at(-1)
}

describe('style basic', () => {
  for (const mode of modes)
    test(`${mode}: an ipn_url of another origin is refused at every route, also if the form is signed`, async () => {
      const { merchant } = await basicShop(`ipn_url=${ours.url}/ipn`)
      await known()
      await expectRefused(merchant, mode, `${theirs.url}/ipn`)
      await expectRefused(merchant, mode, `${ours.url.replace('127.0.0.1', 'localhost')}/ipn`)
      await expectTaken(merchant, mode, `${ours.url}/another?order=1`)
      await expectTaken(merchant, mode)
    })

  for (const mode of modes)
    test(`${mode}: the password of this mode goes to the origin of the setting and to registered origins`, async () => {
      const { merchant, login } = await basicShop(`ipn_url=${ours.url}/ipn`)
      await known()
      for (const ipn_url of [undefined, `${ours.url}/another`]) {
        const one = await arrived(ours, await cancelOne(merchant, mode, ipn_url))
        expect(one?.headers.authorization).toBe(login(mode))
      }
      const registered = await basicShop(`allowed_origins=${ours.url}`)
      const told = await arrived(ours, await cancelOne(registered.merchant, mode, `${ours.url}/ipn`))
      expect(told?.headers.authorization).toBe(registered.login(mode))
    })

  test('a browser is told in words', async () => {
    const { merchant } = await basicShop(`ipn_url=${ours.url}/ipn`)
    await known()
    const body = form(signedRequest(merchant.live, { ipn_url: `${theirs.url}/ipn` }))
    const page = await send(`${gateway.url}/gateway`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      body,
    })
    expect([page.http, page.text]).toEqual([400, expect.stringMatching(/GW-012.*ipn_url: is on neither/s)])
  })

  test('what was stored with another origin before the style was chosen is sent without the password', async () => {
    const merchant = await gateway.addMerchant()
    const { body } = await post(gateway.url, signedRequest(merchant.live, { ipn_url: `${theirs.url}/ipn` }))
    await change(merchant, 'ipn_style=basic', `ipn_url=${ours.url}/ipn`)
    await known()
    await cancelAt(body.url)
    const { merchant_id } = merchant
    const { tx_reference } = body
    const one = await arrived(theirs, tx_reference)
    expect(one?.headers).not.toHaveProperty('authorization')
    expect(one?.headers['webhook-signature']).toMatch(/^v1,/)
    expect(JSON.parse(one?.body ?? '')).toMatchObject({ tx_reference, status: 'cancelled', amount: '25.00' })
    await expect
      .poll(async () => (await triesOfPayment(gateway.db, { merchant_id, tx_reference }))[0])
      .toMatchObject({
        result: 'acknowledged',
        words: 'sent without the password: the address is not on an origin of the merchant',
      })
    expect(gateway.logs.join('')).toContain(
      `"notification_id":"${tx_reference}-N1","msg":"a notification was sent`,
    )

    expect(await redeliver(gateway.db, { merchant_id, tx_reference, sequence: 1 }, new Date())).toMatchObject(
      {
        redelivered: 1,
      },
    )
    expect((await arrived(theirs, tx_reference, 2))?.headers).not.toHaveProperty('authorization')
  })

  test('it has the password from the next try on when its origin is registered', async () => {
    theirs.answerWith(({ headers }, response) => response.writeHead(headers.authorization ? 200 : 401).end())
    const { merchant, login } = await basicShop(`ipn_url=${theirs.url}/ipn`)
    await known()
    const request = signedRequest(merchant.test, { ipn_url: `${theirs.url}/another` })
    const { body: stored } = await post(gateway.url, request)
    await change(merchant, `ipn_url=${ours.url}/ipn`)
    await known()
    await cancelAt(stored.url)
    const refused = await arrived(theirs, stored.tx_reference)
    expect(refused?.headers).not.toHaveProperty('authorization')
    await change(merchant, `allowed_origins=${theirs.url}`)
    await known()
    const { merchant_id } = merchant
    const key = { merchant_id, tx_reference: stored.tx_reference, sequence: 1 }
    await expect.poll(async () => (await redeliver(gateway.db, key, new Date()))?.redelivered).toBe(1)
    const taken = await arrived(theirs, stored.tx_reference, 2)
    expect(taken?.headers.authorization).toBe(login('test'))
    theirs.answerWith((_, response) => void response.end('ok'))
  })

  test('the password is not sent after a redirect to another server', async () => {
    ours.answerWith((_, response) => response.writeHead(307, { location: `${theirs.url}/taken` }).end())
    const { merchant, login } = await basicShop(`ipn_url=${ours.url}/ipn`)
    await known()
    const tx_reference = await cancelOne(merchant, 'live', undefined)
    expect((await arrived(ours, tx_reference))?.headers.authorization).toBe(login('live'))
    ours.answerWith((_, response) => void response.end('ok'))
    const { merchant_id } = merchant
    await expect
      .poll(async () => (await triesOfPayment(gateway.db, { merchant_id, tx_reference }))[0]?.result)
      .toBe('redirect')
    expect(theirs.of(tx_reference)).toEqual([])
    expect(theirs.received.filter(({ path }) => path === '/taken')).toEqual([])
  })
})

describe('form_ipn_url', () => {
  for (const mode of modes) {
    test(`${mode}, any: an ipn_url of another origin is accepted at every route, as the contract says`, async () => {
      const merchant = await gateway.addMerchant('unsigned_requests=on', `ipn_url=${ours.url}/ipn`)
      await expectTaken(merchant, mode, `${theirs.url}/ipn`)
    })

    test(`${mode}, registered: only the origin of the merchant's own ipn_url is accepted, at every route`, async () => {
      const merchant = await gateway.addMerchant(
        'unsigned_requests=on',
        'form_ipn_url=registered',
        `ipn_url=${ours.url}/ipn`,
      )
      await expectRefused(merchant, mode, `${theirs.url}/ipn`)
      await expectTaken(merchant, mode, `${ours.url}/another`)
      await expectTaken(merchant, mode)
    })
  }

  test('registered, with registered origins: those are taken, and no other', async () => {
    const merchant = await gateway.addMerchant(
      'unsigned_requests=on',
      'form_ipn_url=registered',
      `allowed_origins=${ours.url}`,
    )
    await expectRefused(merchant, 'live', `${theirs.url}/ipn`)
    await expectTaken(merchant, 'live', `${ours.url}/ipn`)
  })

  test('registered, without any address of the merchant: a request names none, and is taken', async () => {
    const merchant = await gateway.addMerchant('unsigned_requests=on', 'form_ipn_url=registered')
    await expectRefused(merchant, 'live', `${theirs.url}/ipn`)
    await expectTaken(merchant, 'live')
  })

  test('errors_as_200: the refusal comes with 200', async () => {
    const merchant = await gateway.addMerchant('errors_as_200=on', 'form_ipn_url=registered')
    const request = signedRequest(merchant.live, { ipn_url: `${theirs.url}/ipn`, invoice_id: newInvoice() })
    const { http, body } = await post(gateway.url, request)
    expect([http, body.status_code, body.error.field]).toEqual([200, 400, 'ipn_url'])
  })
})
