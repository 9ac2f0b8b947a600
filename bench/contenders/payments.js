// Customers who pay, as a contender. Every round is counted in the database: a fast payment that is lost or taken
// twice is no result.
import { createMeter, nextSeries } from './meter.js'
import { countPaid, reset } from '../rows/database.js'

export function paying(bench, gateway, database, { id, label, count }) {
  const total = { payments: 0 }
  return {
    id,
    label,
    gateway,
    connections: count,
    total,
    async run(job) {
      await reset(database, { emptied: true })
      const { port, merchant } = gateway
      const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
      const whole = { ...job, port, merchant, connections: count, series: `P${nextSeries()}` }
      const figures = await bench.customers.run(whole, meter.start, meter.stop)
      const counted = await countPaid(database)
      check(figures.begun, counted)
      total.payments += counted.payments
      return meter.complete(figures)
    },
  }
}

function check(begun, counted) {
  const { payments, paid, attempts, charges, twice } = counted
  const isRight = [payments, paid, attempts, charges].every(count => count === begun) && twice === 0
  if (!isRight) throw new Error(`${begun} payments were begun, and counted were ${JSON.stringify(counted)}.`)
}
