import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rotateIpnSecret } from '../../../src/actions/merchants/credentials.ts'
import { createOutbound, type OutboundRequest } from '../../../src/net/outbound.ts'
import { sql } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { minutes } from '../../support/payments/rows.ts'
import { openReceiver } from '../../support/merchant/receiver.ts'
import { playedOutbound, thanks } from './answers.ts'
import { carryAll, openPost, type Post } from './post.ts'

let post: Post
let ama: TestMerchant
let kofi: TestMerchant
beforeAll(async () => {
  post = await openPost(2)
  post.setNow(new Date()) // the library looks at the clock
  ;[ama, kofi] = post.merchants as [TestMerchant, TestMerchant]
})
afterAll(() => post.close())

async function sentTo({ merchant_id }: TestMerchant, body?: string): Promise<OutboundRequest> {
  const requests: OutboundRequest[] = []
  const tx_reference = await post.tell({ merchant_id })
  if (body)
    await post.db.rows(sql`update notifications set body = ${body} where tx_reference = ${tx_reference}`)
  await carryAll(post.dispatcher(playedOutbound(request => (requests.push(request), thanks()))))
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

test('the secret of the mode signs; that of the other mode and of another merchant do not', async () => {
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
  test(`it is signed as it is sent: ${text}`, async () => {
    const request = await sentTo(ama, text)
    expect(request.body).toBe(text)
    expect(verifies(request, ama.test.ipn_secret)).toBe(true)
  })

test('during a rotation both secrets verify; when the old one has expired it no longer signs', async () => {
  const rotated = await rotateIpnSecret(
    post.db,
    post.masterKeys,
    kofi.merchant_id,
    'test',
    minutes(2),
    post.clock(),
  )
  const [old, next] = [kofi.test.ipn_secret, rotated?.ipn_secret as string]
  const both = await sentTo(kofi)
  expect([verifies(both, old), verifies(both, next), count(both)]).toEqual([true, true, 2])
  post.pass(minutes(2))
  const one = await sentTo(kofi)
  expect([verifies(one, old), verifies(one, next), count(one)]).toEqual([false, true, 1])
  post.setNow(new Date())
})

test('it verifies as it comes out of a real socket', async () => {
  const receiver = await openReceiver()
  const outbound = createOutbound()
  await post.tell({ merchant_id: ama.merchant_id, url: `${receiver.url}/ipn` })
  await carryAll(post.dispatcher(outbound))
  const [one] = receiver.received
  new Webhook(ama.test.ipn_secret).verify(one?.body ?? '', one?.headers as Record<string, string>)
  await outbound.close()
  await receiver.close()
})
