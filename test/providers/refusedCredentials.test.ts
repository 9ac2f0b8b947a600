import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import mtn from '../../src/providers/mtn.ts'
import paystack from '../../src/providers/paystack.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import { guardAccount } from '../../src/runtime/providers/guard.ts'
import { noTools } from '../support/payments/simulatedNode.ts'
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

const accounts: Record<string, () => ProviderAccount> = {
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
    const raw = accounts[name]?.() as ProviderAccount
    expect(await raw.checkCredentials?.(soon())).toMatchObject({
      isValid: false,
      ...(!isRefused && { unreachable: true }),
    })
    if (isRefused) expect(await raw.checkCredentials?.(soon())).not.toHaveProperty('unreachable')
    const guarded = guardAccount(raw)
    const [method] = raw.methods
    const order = anOrder(method?.payment_method ?? '', { email: 'a@b.example' })
    for (const reply of [await guarded.start(order), await guarded.check(order)])
      if (isRefused) expect(reply).toMatchObject({ isRefusal: true })
      else expect(reply).not.toHaveProperty('isRefusal')
  })
