import assert from 'node:assert/strict'
import { afterAll, beforeAll, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { send, signedRequest } from '../support/merchant/merchant.ts'
import { dial, type RawSocket } from '../support/gateway/rawHttp.ts'

let gateway: TestGateway
let shop: TestMerchant

// Behind a proxy the address comes in a header, so that a test can ask from many.
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const path = '/v1/mobile_agents_v2'
const headOf = (address: string, ...headers: string[]) =>
  [
    `POST ${path} HTTP/1.1`,
    'host: here',
    `x-forwarded-for: ${address}`,
    'content-type: application/json',
    ...headers,
    '',
    '',
  ].join('\r\n')

// Requests that declare 64 KiB and send less.
async function halfSend(
  count: number,
  bytes: number,
  addressOf: (at: number) => string,
): Promise<RawSocket[]> {
  const clients: RawSocket[] = []
  for (let at = 0; at < count; at++) {
    const client = await dial(gateway.url)
    client.socket.write(headOf(addressOf(at), 'content-length: 65536') + ' '.repeat(bytes))
    clients.push(client)
  }
  return clients
}

const hangUp = (clients: RawSocket[]) => {
  for (const { socket } of clients) socket.destroy()
}

// What honest shops and payers send, from one address: JSON, a form, a multipart form and JSON of 20 KiB.
async function payFrom(address: string) {
  const headers = { 'x-forwarded-for': address, 'content-type': 'application/json' }
  const { generate_checkout_url: _, ...form } = signedRequest(shop.live)
  const multipart = new FormData()
  const { generate_checkout_url: __, ...other } = signedRequest(shop.live)
  for (const [name, value] of Object.entries(other)) multipart.set(name, String(value))
  const from = { 'x-forwarded-for': address }
  const answers = await Promise.all([
    send(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(signedRequest(shop.live)) }),
    send(gateway.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(signedRequest(shop.live)).padEnd(20_000),
    }),
    send(`${gateway.url}/gateway`, {
      method: 'POST',
      headers: from,
      body: new URLSearchParams(form as Record<string, string>),
      redirect: 'manual',
    }),
    send(`${gateway.url}/gateway`, { method: 'POST', headers: from, body: multipart, redirect: 'manual' }),
  ])
  assert.deepEqual(
    answers.map(({ http }) => http),
    [200, 200, 303, 303],
  )
}

// What those heard that were refused, but for those that a slow machine has made wait for too long.
const refused = (clients: RawSocket[]) =>
  clients.map(({ heard }) => heard()).filter(text => text !== '' && !text.startsWith('HTTP/1.1 408 '))

for (const [what, addressOf, http, code] of [
  ['one network', () => '192.0.2.1', 429, 'GW-060'],
  ['20 networks', (at: number) => `198.51.100.${at % 20}`, 503, 'GW-050'],
] as const)
  test(`1,200 half-sent bodies of ${what}: all other clients are served, and these get the answer that the gateway is too busy`, {
    timeout: 120_000,
  }, async () => {
    const clients = await halfSend(1200, 60_000, addressOf)
    for (let round = 0; round < 5; round++)
      await Promise.all(['203.0.113.1', addressOf(0), addressOf(1), '2001:db8::1'].map(payFrom))
    const heard = refused(clients)
    assert.ok(heard.length > 100, `${heard.length} refused`)
    for (const text of heard) {
      assert.match(text, new RegExp(`^HTTP/1.1 ${http} `))
      assert.match(text, /^connection: close\r$/im)
      assert.match(text, /^retry-after: 1\r$/im)
      assert.ok(text.includes(`"code":"${code}","message":"Too busy: `), text)
    }
    hangUp(clients)
    await payFrom(addressOf(0))
  })

test('2,000 bodies of which one byte was sent take nothing from anybody', { timeout: 120_000 }, async () => {
  const clients = await halfSend(2000, 1, () => '192.0.2.2')
  await payFrom('192.0.2.2')
  await payFrom('203.0.113.2')
  assert.deepEqual(refused(clients), [])
  hangUp(clients)
})

test('a phone that sends 600 bytes in ten pieces is read to the end beside a flood of its network', {
  timeout: 120_000,
}, async () => {
  const clients = await halfSend(280, 60_000, () => '192.0.2.3')
  const body = JSON.stringify(signedRequest(shop.live)).padEnd(600)
  const phone = await dial(gateway.url)
  phone.socket.write(headOf('192.0.2.3', 'content-length: 600', 'connection: close'))
  for (let at = 0; at < 600; at += 60) {
    clients.push(...(await halfSend(3, 60_000, () => '192.0.2.3')))
    phone.socket.write(body.slice(at, at + 60))
  }
  await phone.ended
  assert.deepEqual(phone.answers(), [{ http: 200, closes: true }])
  assert.ok(refused(clients).length > 0)
  hangUp(clients)
})

test('a body that stops is told that it came too slowly', { timeout: 60_000 }, async () => {
  const [stopped] = (await halfSend(1, 60_000, () => '192.0.2.4')) as [RawSocket]
  await stopped.ended
  assert.match(stopped.heard(), /^HTTP\/1.1 408 /)
  assert.match(stopped.heard(), /"message":"The body arrived too slowly."/)
})
