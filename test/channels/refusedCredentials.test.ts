import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import mtn from '../../src/channels/mtn.ts'
import paystack from '../../src/channels/paystack.ts'
import type { Channel } from '../../src/core/channel/channel.ts'
import { guardChannel } from '../../src/runtime/channels/guard.ts'
import { noTools } from '../support/lifeNode.ts'
import { anOrder } from './order.ts'

// A provider that refuses our credentials is told apart from one that has an outage, by a check and by an order.
let token = 200
let answer = 401
const server = createServer((incoming, outgoing) => {
  const isToken = incoming.url?.startsWith('/collection/token')
  outgoing.writeHead(isToken ? token : answer, { 'content-type': 'application/json' })
  outgoing.end(isToken && token === 200 ? '{"access_token":"t","expires_in":3600}' : '{"message":"no"}')
})
let url = ''
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise<void>(resolve => (server.closeAllConnections(), server.close(() => resolve()))))

const channels: Record<string, () => Channel> = {
  mtn: () =>
    mtn.open(
      {
        subscription_key: 's',
        api_user: 'u',
        api_key: 'k',
        environment: 'mtnghana',
        currency: 'GHS',
        url,
        callbacks: 'off',
        check_holder: 'off',
      },
      noTools,
    ),
  paystack: () => paystack.open({ secret_key: 'sk_live_x', url }, noTools),
}
const soon = () => AbortSignal.timeout(20_000)

for (const [name, onToken, onAnswer, isRefused] of [
  ['mtn', 401, 404, true],
  ['mtn', 403, 404, true],
  ['mtn', 200, 401, true],
  ['mtn', 200, 403, true],
  ['mtn', 503, 404, false],
  ['mtn', 500, 404, false], // may be a wrong API key, and may be an outage: not known
  ['mtn', 200, 503, false],
  ['paystack', 200, 401, true],
  ['paystack', 200, 403, true],
  ['paystack', 200, 503, false],
] as const)
  test(`${name}: HTTP ${onToken} to a token, ${onAnswer} to a request: ${isRefused ? 'refused' : 'an outage'}`, async () => {
    token = onToken
    answer = onAnswer
    const raw = channels[name]?.() as Channel
    expect(await raw.test?.(soon())).toMatchObject({ isGood: false, ...(!isRefused && { notAsked: true }) })
    if (isRefused) expect(await raw.test?.(soon())).not.toHaveProperty('notAsked')
    const guarded = guardChannel(raw)
    const [way] = raw.ways
    const order = anOrder(way?.payment_method ?? '', { email: 'a@b.example' })
    for (const reply of [await guarded.start(order), await guarded.check(order)])
      if (isRefused) expect(reply).toMatchObject({ isRefusal: true })
      else expect(reply).not.toHaveProperty('isRefusal')
  })
