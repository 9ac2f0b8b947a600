// Customers who cancel, as a contender: from the form to the shop that was told. Counted as payments are.
import { createMeter } from './meter.js'
import { storedPage } from '../rows/payments.js'
import { openShops } from './payments.js'
import { reset } from '../rows/database.js'
import { countSettled, mustBeOnce } from '../rows/settled.js'
import { fillPayments, paymentOf } from '../rows/town.js'

const mostPerSecond = 2500 // when more are cancelled, the round is shorter

const kept = ['cancelled', 'notifications', 'acknowledged']
const once = [...kept, 'told']
const never = ['toldTwice', 'again']

// `place` has, when the first round begins, a gateway, its town and the customers.
export function cancelling(bench, place, { id, label, count, isPageSeen }) {
  return {
    id,
    label,
    gateway: place.gateway,
    connections: count,
    async run(job) {
      const { gateway, town, customers } = place
      const each = Math.ceil((mostPerSecond * (job.warmMs + job.measureMs)) / 1000 / town.merchants.length)
      await fillPayments(town, () => each)
      await reset(town, { emptied: false })
      const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
      const whole = { ...job, port: gateway.port, connections: count, isPageSeen }
      const payments = paymentsOf(town, each)
      const figures = await customers.run({ ...whole, payments }, meter.start, meter.stop)
      const settled = await countSettled(town, kept, figures.begun)
      const counted = { ...settled, ...(await openShops(customers, town).countTold()) }
      await mustBeOnce(town, 'cancelled', figures.begun, { counted, once, never })
      return meter.complete(figures)
    },
  }
}

// One merchant after the other.
const paymentsOf = (town, each) =>
  Array.from({ length: each * town.merchants.length }, (_, n) => {
    const merchant = n % town.merchants.length
    const { merchant_id, number, id } = paymentOf(town, merchant, Math.floor(n / town.merchants.length))
    return { page: storedPage({ merchant_id }, number), id }
  })
