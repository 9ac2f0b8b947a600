import { expect, test } from 'vitest'
import { gaugeDeliveries } from '../../src/observe/deliveries.ts'
import { gaugeMessages } from '../../src/observe/messages.ts'
import { createMetrics, gaugeTasks } from '../../src/observe/metrics.ts'

test('one scrape reads the counts once, and all gauges have values of this scrape', async () => {
  const metrics = createMetrics()
  let reads = 0
  gaugeDeliveries(metrics, { inFlight: () => 3, breakers: () => [] }, async () => {
    reads++
    return { due: 2, parked: 1, oldest_due_seconds: 17 * reads }
  })
  gaugeMessages(metrics, async () => ({ queued: 4, oldest_due_seconds: 5 }))
  for (const oldest of [17, 34]) {
    const text = await metrics.registry.metrics()
    for (const line of [
      'tollgate_deliveries{of="due"} 2',
      'tollgate_deliveries{of="parked"} 1',
      'tollgate_deliveries{of="in_flight"} 3',
      `tollgate_delivery_oldest_due_seconds ${oldest}`,
      'tollgate_messages_queued 4',
      'tollgate_message_oldest_due_seconds 5',
    ])
      expect(text.split('\n')).toContain(line)
  }
})

test('alarms exist at 0 from the start: otherwise the first one raises no alert', async () => {
  const text = await createMetrics().registry.metrics()
  for (const kind of ['refund', 'amount_mismatch', 'unresolved', 'account_trouble'])
    expect(text).toContain(`tollgate_alarms_total{kind="${kind}"} 0`)
})

test('the counters of alerts exist at 0 for every account, also for one that is set up later', async () => {
  const metrics = createMetrics()
  const accounts = [{ account: 'mtn', methods: ['mtn_mobile_money'] }]
  metrics.measureAccounts(() => accounts)
  for (const name of ['mtn', 'mtn-4f7k2q']) {
    const text = await metrics.registry.metrics()
    expect(text).toContain(`tollgate_webhooks_total{account="${name}",outcome="forged"} 0`)
    const labels = `account="${name}",payment_method="mtn_mobile_money"`
    expect(text).toContain(`tollgate_provider_unknown_codes_total{${labels}} 0`)
    accounts.push({ account: 'mtn-4f7k2q', methods: ['mtn_mobile_money'] })
  }
})

test('while the database does not answer, the other metrics are there and its own have no value', async () => {
  const metrics = createMetrics()
  gaugeMessages(metrics, () => Promise.reject(new Error('no connection')))
  gaugeTasks(metrics, () => new Promise(() => {}))
  gaugeDeliveries(metrics, { inFlight: () => 3, breakers: () => [] }, async () => ({
    due: 2,
    parked: 1,
    oldest_due_seconds: 0,
  }))
  const text = await metrics.registry.metrics()
  expect(text).toContain('tollgate_deliveries{of="in_flight"} 3')
  expect(text).not.toMatch(/^tollgate_(messages_queued|tasks_open|task_oldest_seconds)[ {]/m)
})
