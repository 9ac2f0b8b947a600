// Customers who cancel, as a contender: from the form to the notification at the shop. Counted like payments.
import { createMeter } from './meter.js'
import { storedPage } from '../rows/payments.js'
import { openShops } from './payments.js'
import { reset } from '../rows/database.js'
import { countSettled, mustBeOnce } from '../rows/settled.js'
import { fillPayments, paymentOf } from '../rows/dataset.js'

const mostPerSecond = 2500 // when more are cancelled, the round is shorter

const kept = ['cancelled', 'notifications', 'acknowledged']
const once = [...kept, 'told']
const never = ['toldTwice', 'again']

// `place` has, when the first round begins, a gateway, its dataset and the customers.
export function cancelling(bench, place, { id, label, count, isPageSeen }) {
  return {
    id,
    label,
    gateway: place.gateway,
    connections: count,
    async run(job) {
      const { gateway, dataset, customers } = place
      const each = Math.ceil((mostPerSecond * (job.warmMs + job.measureMs)) / 1000 / dataset.merchants.length)
      await fillPayments(dataset, () => each)
      await reset(dataset, { emptied: false })
      const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
      const whole = { ...job, port: gateway.port, connections: count, isPageSeen }
      const payments = paymentsOf(dataset, each)
      const figures = await customers.run({ ...whole, payments }, meter.start, meter.stop)
      const settled = await countSettled(dataset, kept, figures.begun)
      const counted = { ...settled, ...(await openShops(customers, dataset).countTold()) }
      await mustBeOnce(dataset, 'cancelled', figures.begun, { counted, once, never })
      return meter.complete(figures)
    },
  }
}

// One merchant after the other.
const paymentsOf = (dataset, each) =>
  Array.from({ length: each * dataset.merchants.length }, (_, n) => {
    const merchant = n % dataset.merchants.length
    const { merchant_id, number, id } = paymentOf(dataset, merchant, Math.floor(n / dataset.merchants.length))
    return { page: storedPage({ merchant_id }, number), id }
  })
