import { expect, test } from 'vitest'
import type { SanitizedReply } from '../../src/core/provider/reply.ts'
import { gaugeProviders, watchCalls } from '../../src/observe/providers.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { createHealthMonitors } from '../../src/runtime/providers/healthMonitor.ts'

const called = { verb: 'start', attempt_id: 'a1', payment_method: 'wallet' } as const

function watched() {
  const metrics = createMetrics()
  const monitors = createHealthMonitors({ watch: watchCalls(metrics) })
  gaugeProviders(metrics, monitors)
  const finish = (account: string, reply: SanitizedReply, attempt_id = 'a1') =>
    monitors.account(account).begin({ ...called, attempt_id })({
      reply,
      delayMs: 700,
      timeoutMs: 5000,
    })
  return { metrics, monitors, finish }
}

const of = (account: string) => `account="${account}",payment_method="wallet"`

test('calls, delays, health, breaker, unknown codes and the last success are measured by account and method', async () => {
  const { metrics, monitors, finish } = watched()
  finish('mtn', { state: 'pending' })
  finish('mtn', { state: 'unknown', words: '', unknownCode: 'HELD' })
  for (let n = 0; n < 5; n++) finish('paystack', { state: 'unknown', words: 'HTTP 503' }, `order ${n}`)
  finish('paystack', { state: 'not_sent', words: 'connection refused' })
  monitors.account('paystack').begin(called)(undefined)
  monitors.account('mtn').count('wallet', { paid: 1 })
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
  expect(text).not.toContain('HELD') // codes are shown by the status, never in a label
})

test('the number of account labels is bounded', async () => {
  const { metrics, finish } = watched()
  for (let n = 0; n < 1010; n++) finish(`mtn-${n}`, { state: 'pending' })
  const text = await metrics.registry.metrics()
  expect(text.match(/^tollgate_provider_calls_total\{/gm)).toHaveLength(1001)
  expect(text).toContain(
    'tollgate_provider_calls_total{account="others",payment_method="wallet",verb="start",outcome="answered"} 10',
  )
})
