import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/observe/metrics.ts'
import { watchLedger } from '../../src/observe/workers.ts'

test('charges without transfers are a warning and a count, except for those from before the ledger', async () => {
  const lines: string[] = []
  const metrics = createMetrics()
  const watch = watchLedger(
    metrics,
    pino({ base: null, timestamp: false }, { write: line => void lines.push(line) }),
  )
  const counted = async () => {
    const text = await metrics.registry.metrics()
    return /^tollgate_ledger_booked_late_total (\d+)$/m.exec(text)?.[1]
  }
  const tx_references = ['TG-1', 'TG-2']
  watch.found({ merchant_id: 'm1', tx_references, isFirstPass: true })
  expect(await counted()).toBe('0')
  watch.found({ merchant_id: 'm1', tx_references, isFirstPass: false })
  expect(await counted()).toBe('2')
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { level: 30, merchant: 'm1', count: 2, payments: tx_references },
    { level: 40, merchant: 'm1', count: 2, payments: tx_references },
  ])
})
