import { expect, test } from 'vitest'
import type { Order } from '../../src/core/channel/order.ts'
import type { Heard } from '../../src/core/channel/reply.ts'
import { gaugeChannels, watchCalls } from '../../src/observe/channels.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { createKeepers } from '../../src/runtime/channels/keeper.ts'

const called = { attempt_id: 'a1', payment_method: 'wallet' } as Order

function watched() {
  const metrics = createMetrics()
  const keepers = createKeepers({ watch: watchCalls(metrics) })
  gaugeChannels(metrics, keepers)
  const hear = (account: string, heard: Heard, attempt_id = 'a1') =>
    keepers.keeperOf(account, { mode: 'live' }).begin('start', { ...called, attempt_id })({
      heard,
      delayMs: 700,
      withinMs: 5000,
    })
  return { metrics, keepers, hear }
}

const of = (account: string) => `account="${account}",payment_method="wallet"`

test('calls, delays, standing, breaker, odd words and the last success are told by account and way', async () => {
  const { metrics, keepers, hear } = watched()
  hear('mtn', { state: 'pending' })
  hear('mtn', { state: 'unknown', words: '', oddWord: 'HELD' })
  for (let n = 0; n < 5; n++) hear('paystack', { state: 'unknown', words: 'HTTP 503' }, `order ${n}`)
  hear('paystack', { state: 'not_sent', words: 'nobody listens' })
  keepers.keeperOf('paystack', { mode: 'live' }).putOff('start', called)
  keepers.windows.see('mtn', 'wallet', { what: 'paid' })
  const text = await metrics.registry.metrics()
  for (const line of [
    `tollgate_channel_calls_total{${of('mtn')},verb="start",outcome="answered"} 2`,
    `tollgate_channel_calls_total{${of('paystack')},verb="start",outcome="unanswered"} 5`,
    `tollgate_channel_calls_total{${of('paystack')},verb="start",outcome="not_sent"} 1`,
    `tollgate_channel_calls_total{${of('paystack')},verb="start",outcome="put_off"} 1`,
    `tollgate_channel_call_seconds_bucket{le="0.5",${of('mtn')},verb="start"} 0`,
    `tollgate_channel_call_seconds_bucket{le="1",${of('mtn')},verb="start"} 2`,
    `tollgate_channel_odd_words_total{${of('mtn')}} 1`,
    `tollgate_channel_standing{${of('mtn')}} 0`,
    `tollgate_channel_standing{${of('paystack')}} 2`,
    'tollgate_channel_breaker{account="mtn"} 0',
    'tollgate_channel_breaker{account="paystack"} 1',
    `tollgate_channel_since_seconds{${of('mtn')},what="answer"} `,
    `tollgate_channel_since_seconds{${of('mtn')},what="paid"} `,
  ])
    expect(text).toContain(line)
  expect(text).not.toContain('HELD') // words stand in the status, never in a label
})

test('however many accounts there are, the names are bounded', async () => {
  const { metrics, hear } = watched()
  for (let n = 0; n < 1010; n++) hear(`mtn-${n}`, { state: 'pending' })
  const text = await metrics.registry.metrics()
  expect(text.match(/^tollgate_channel_calls_total\{/gm)).toHaveLength(1001)
  expect(text).toContain(
    'tollgate_channel_calls_total{account="others",payment_method="wallet",verb="start",outcome="answered"} 10',
  )
})
