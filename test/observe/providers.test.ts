import { expect, test } from 'vitest'
import type { Order } from '../../src/core/provider/order.ts'
import type { SanitizedReply } from '../../src/core/provider/reply.ts'
import { gaugeProviders, watchCalls } from '../../src/observe/providers.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { createHealthMonitors } from '../../src/runtime/providers/healthMonitor.ts'

const called = { attempt_id: 'a1', payment_method: 'wallet' } as Order

function watched() {
  const metrics = createMetrics()
  const monitors = createHealthMonitors({ watch: watchCalls(metrics) })
  gaugeProviders(metrics, monitors)
  const hear = (account: string, reply: SanitizedReply, attempt_id = 'a1') =>
    monitors.monitorFor(account, { mode: 'live' }).begin('start', { ...called, attempt_id })({
      reply,
      delayMs: 700,
      timeoutMs: 5000,
    })
  return { metrics, monitors, hear }
}

const of = (account: string) => `account="${account}",payment_method="wallet"`

test('calls, delays, standing, breaker, unknown codes and the last success are told by account and way', async () => {
  const { metrics, monitors, hear } = watched()
  hear('mtn', { state: 'pending' })
  hear('mtn', { state: 'unknown', words: '', unknownCode: 'HELD' })
  for (let n = 0; n < 5; n++) hear('paystack', { state: 'unknown', words: 'HTTP 503' }, `order ${n}`)
  hear('paystack', { state: 'not_sent', words: 'nobody listens' })
  monitors.monitorFor('paystack', { mode: 'live' }).postpone('start', called)
  monitors.account('mtn').count('wallet', { what: 'paid' })
  const text = await metrics.registry.metrics()
  for (const line of [
    `tollgate_provider_calls_total{${of('mtn')},verb="start",outcome="answered"} 2`,
    `tollgate_provider_calls_total{${of('paystack')},verb="start",outcome="unanswered"} 5`,
    `tollgate_provider_calls_total{${of('paystack')},verb="start",outcome="not_sent"} 1`,
    `tollgate_provider_calls_total{${of('paystack')},verb="start",outcome="put_off"} 1`,
    `tollgate_provider_call_seconds_bucket{le="0.5",${of('mtn')},verb="start"} 0`,
    `tollgate_provider_call_seconds_bucket{le="1",${of('mtn')},verb="start"} 2`,
    `tollgate_provider_unknown_codes_total{${of('mtn')}} 1`,
    `tollgate_provider_health{${of('mtn')}} 0`,
    `tollgate_provider_health{${of('paystack')}} 2`,
    'tollgate_provider_breaker{account="mtn"} 0',
    'tollgate_provider_breaker{account="paystack"} 1',
    `tollgate_provider_since_seconds{${of('mtn')},what="answer"} `,
    `tollgate_provider_since_seconds{${of('mtn')},what="paid"} `,
  ])
    expect(text).toContain(line)
  expect(text).not.toContain('HELD') // words stand in the status, never in a label
})

test('the number of labels is bounded, whatever the number of accounts', async () => {
  const { metrics, hear } = watched()
  for (let n = 0; n < 1010; n++) hear(`mtn-${n}`, { state: 'pending' })
  const text = await metrics.registry.metrics()
  expect(text.match(/^tollgate_provider_calls_total\{/gm)).toHaveLength(1001)
  expect(text).toContain(
    'tollgate_provider_calls_total{account="others",payment_method="wallet",verb="start",outcome="answered"} 10',
  )
})
