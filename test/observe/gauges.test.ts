import { expect, test } from 'vitest'
import { gaugeDeliveries } from '../../src/observe/deliveries.ts'
import { gaugeMessages } from '../../src/observe/messages.ts'
import { createMetrics } from '../../src/observe/metrics.ts'

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
