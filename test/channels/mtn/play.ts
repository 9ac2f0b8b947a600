import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import mtn from '../../../src/channels/mtn.ts'
import type { ChannelSettings, Egress } from '../../../src/core/channel/channel.ts'
import type { Order } from '../../../src/core/channel/order.ts'
import { guardChannel } from '../../../src/runtime/channels/guard.ts'
import { type MtnWorld, mtnCredentials, openMtn } from '../../simulators/mtn/mtn.ts'
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

// A played MTN of its own, and the channel to it.
export async function playMtn(world: MtnWorld = {}, changes: ChannelSettings = {}, egress: Egress = {}) {
  const played = await openMtn(world)
  onTestFinished(() => played.stop())
  const environment = world.environment ?? 'mtnghana'
  const raw = mtn.open({ ...mtnSettings, environment, url: played.url, ...changes }, { ...tools, egress })
  const channel = guardChannel(raw)
  const [way] = raw.ways
  assert.ok(way)
  const order = (phone = '+233241234567', more: Partial<Order> = {}): Order => {
    const plain = newOrder(way, { phone }, more)
    return { ...plain, key: channel.newKey(plain.attempt_id) ?? '' }
  }
  const orders = () => played.asked.filter(({ method, path }) => method === 'POST' && path.endsWith('pay'))
  return { played, raw, channel, order, orders }
}
