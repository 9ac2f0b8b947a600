import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rotateIpnSecret } from '../../../src/actions/merchants/credentials.ts'
import { createOutbound, type OutboundRequest } from '../../../src/net/outbound.ts'
import { sql } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { minutes } from '../../support/payments/rows.ts'
import { openReceiver } from '../../support/merchant/receiver.ts'
import { fakeOutbound, acknowledge } from './answers.ts'
import { dispatchAll, openDeliveryFixture, type DeliveryFixture } from './fixture.ts'

let fixture: DeliveryFixture
let ama: TestMerchant
let kofi: TestMerchant
beforeAll(async () => {
  fixture = await openDeliveryFixture(2)
  fixture.setNow(new Date()) // the library reads the clock
  ;[ama, kofi] = fixture.merchants as [TestMerchant, TestMerchant]
})
afterAll(() => fixture.close())

async function sentTo({ merchant_id }: TestMerchant, body?: string): Promise<OutboundRequest> {
  const requests: OutboundRequest[] = []
  const tx_reference = await fixture.notify({ merchant_id })
  if (body)
    await fixture.db.rows(sql`update notifications set body = ${body} where tx_reference = ${tx_reference}`)
  await dispatchAll(fixture.dispatcher(fakeOutbound(request => (requests.push(request), acknowledge()))))
  expect(requests).toHaveLength(1)
  return requests[0] as OutboundRequest
}

const verifies = ({ headers, body }: OutboundRequest, secret: string) => {
  try {
    new Webhook(secret).verify(String(body), headers)
    return true
  } catch {
    return false
  }
}
const count = ({ headers }: OutboundRequest) => headers['webhook-signature']?.split(' ').length

test('the secret of the mode signs; those of the other mode and of another merchant do not', async () => {
  const request = await sentTo(ama)
  const secrets = [ama.test, ama.live, kofi.test].map(({ ipn_secret }) => ipn_secret)
  expect(secrets.map(secret => verifies(request, secret))).toEqual([true, false, false])
  expect(count(request)).toBe(1)
})

test('a body, an id or a time that was changed on the way does not verify', async () => {
  const request = await sentTo(ama)
  const secret = ama.test.ipn_secret
  expect(verifies({ ...request, body: `${String(request.body)} ` }, secret)).toBe(false)
  for (const [name, value] of [
    ['webhook-id', 'TG-1-N1'],
    ['webhook-timestamp', String(Number(request.headers['webhook-timestamp']) + 1)],
  ] as const)
    expect(verifies({ ...request, headers: { ...request.headers, [name]: value } }, secret)).toBe(false)
})

for (const text of [
  '"quotes\\" and back\\\\slashes"',
  '{"name":"Ɛsi Ɔkɔmfo 🛒"}',
  '{"html":"<script>\\u2028&amp;"}',
])
  test(`the signature is over the bytes that are sent: ${text}`, async () => {
    const request = await sentTo(ama, text)
    expect(request.body).toBe(text)
    expect(verifies(request, ama.test.ipn_secret)).toBe(true)
  })

test('during a rotation both secrets sign; an expired one does not', async () => {
  const rotated = await rotateIpnSecret(
    fixture.db,
    fixture.masterKeys,
    kofi.merchant_id,
    'test',
    minutes(2),
    fixture.clock(),
  )
  const [old, next] = [kofi.test.ipn_secret, rotated?.ipn_secret as string]
  const both = await sentTo(kofi)
  expect([verifies(both, old), verifies(both, next), count(both)]).toEqual([true, true, 2])
  fixture.pass(minutes(2))
  const one = await sentTo(kofi)
  expect([verifies(one, old), verifies(one, next), count(one)]).toEqual([false, true, 1])
  fixture.setNow(new Date())
})

test('a request from a real socket verifies', async () => {
  const receiver = await openReceiver()
  const outbound = createOutbound()
  await fixture.notify({ merchant_id: ama.merchant_id, url: `${receiver.url}/ipn` })
  await dispatchAll(fixture.dispatcher(outbound))
  const [one] = receiver.received
  new Webhook(ama.test.ipn_secret).verify(one?.body ?? '', one?.headers as Record<string, string>)
  await outbound.close()
  await receiver.close()
})
