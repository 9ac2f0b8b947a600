import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import mtn from '../../../src/providers/mtn.ts'
import type { ProviderSettings, Egress } from '../../../src/core/provider/provider.ts'
import type { Order } from '../../../src/core/provider/order.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import {
  disbursementCredentials,
  type MtnOptions,
  mtnCredentials,
  openMtn,
} from '../../simulators/mtn/mtn.ts'
import { newOrder, tools } from '../stories/stage.ts'

export const mtnSettings = {
  subscription_key: mtnCredentials.subscriptionKey,
  api_user: mtnCredentials.apiUser,
  api_key: mtnCredentials.apiKey,
  environment: 'mtnghana',
  currency: 'GHS',
  url: 'http://127.0.0.1:1',
  callbacks: 'off',
  check_holder: 'off',
}

export const disbursementSettings = {
  disbursement_subscription_key: disbursementCredentials.subscriptionKey,
  disbursement_api_user: disbursementCredentials.apiUser,
  disbursement_api_key: disbursementCredentials.apiKey,
}

// A played MTN of its own, and the provider to it.
export async function playMtn(world: MtnOptions = {}, changes: ProviderSettings = {}, egress: Egress = {}) {
  const played = await openMtn(world)
  onTestFinished(() => played.stop())
  const environment = world.environment ?? 'mtnghana'
  const raw = mtn.open({ ...mtnSettings, environment, url: played.url, ...changes }, { ...tools, egress })
  const providerAccount = guardAccount(raw)
  const [way] = raw.methods
  assert.ok(way)
  const order = (phone = '+233241234567', more: Partial<Order> = {}): Order => {
    const plain = newOrder(way, { phone }, more)
    return { ...plain, idempotency_key: providerAccount.newIdempotencyKey(plain.attempt_id) ?? '' }
  }
  const orders = () => played.asked.filter(({ method, path }) => method === 'POST' && path.endsWith('pay'))
  return { played, raw, account: providerAccount, order, orders }
}
