import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoId, onboard } from '../../../src/actions/merchants/onboard.ts'
import { setActive } from '../../../src/store/merchants/merchants.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { send, signedRequest, post } from '../../support/merchant/merchant.ts'

// The only address that shows a secret: that of the demo shop, and to pages of this gateway on this machine.

const path = '/docs/demo-keys'
let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

// With a Host header of choice, which fetch does not send.
const statusFor = (url: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((done, fail) => {
    const sent = request(url + path, { headers }, answer => {
      answer.resume()
      done(answer.statusCode)
    })
    sent.on('error', fail).end()
  })

test('without a demo merchant there are no keys, whatever other merchants there are', async () => {
  await gateway.addMerchant()
  expect(await send(gateway.url + path)).toMatchObject({ http: 200, body: {} })
  expect((await send(gateway.url + path)).text).toBe('{}')
})

test('the keys of the demo merchant sign requests, and only its test keys are shown', async () => {
  const demo = await onboard(
    gateway.db,
    gateway.masterKeys,
    'Demo Shop',
    ['test', 'live'],
    new Date(),
    demoId,
  )
  const { body, headers } = await send(gateway.url + path)
  expect(body).toEqual({ merchant_key: demo.test?.merchant_key, secret_key: demo.test?.secret_key })
  expect(headers.get('cache-control')).toBe('no-store')
  expect((await post(gateway.url, signedRequest(body))).body).toMatchObject({ success: true })
})

test('a deactivated demo merchant has no keys', async () => {
  await setActive(gateway.db, demoId, false)
  const shown = async () => (await send(gateway.url + path)).text
  await expect.poll(shown).toBe('{}')
  await setActive(gateway.db, demoId, true)
  await expect.poll(shown).toContain('secret_key')
})

test('a page of another site, and a name that is not of this machine, get nothing', async () => {
  const { host } = new URL(gateway.url)
  expect(await statusFor(gateway.url, { host })).toBe(200)
  expect(await statusFor(gateway.url, { host, 'sec-fetch-site': 'same-origin' })).toBe(200)
  for (const site of ['cross-site', 'same-site', 'none'])
    expect([site, await statusFor(gateway.url, { host, 'sec-fetch-site': site })]).toEqual([site, 404])
  for (const other of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:8080', '192.0.2.1'])
    expect([other, await statusFor(gateway.url, { host: other })]).toEqual([other, 404])
})

const reachable: Record<string, string>[] = [
  { HOST: '0.0.0.0' },
  { TOLLGATE_BASE_URL: 'https://pay.example' },
]
for (const env of reachable)
  test(`the address does not exist with ${JSON.stringify(env)}`, async () => {
    const open = await testGateway(env)
    await onboard(open.db, open.masterKeys, 'Demo Shop', ['test'], new Date(), demoId)
    const { port } = new URL(open.url)
    expect((await send(`http://127.0.0.1:${port}${path}`)).http).toBe(404)
    await open.stop()
  })
