// One healthy endpoint, alone and beside a hundred in trouble.

import { shown, timeChanges } from '../contenders/deliveryLatency.js'
import { freePort } from '../endpoints/freePort.js'
import { evenly } from '../load/changes.js'
import { add, bodyInSql, dueSql } from '../rows/deliveries.js'
import { createDataset, fillPayments, paymentOf } from '../rows/dataset.js'

const perSecond = 100 // changes of the healthy one
const troubled = { hanging: 50, refusing: 25, failing: 25 }
const eachPerSecond = 1
const standing = 100 // deliveries that are due in each troubled lane from the beginning
const standingFrom = 1_000_000_000 // far from the numbers of payments

export function isolationSection(bench, { rounds, measureMs, coldMs }) {
  const place = {}
  const count = Object.values(troubled).reduce((sum, n) => sum + n, 0)
  const others = Array.from({ length: count }, (_, n) => n + 1) // the healthy one is number 0
  const contender = (id, label, isBeside) => ({
    id,
    label,
    async run() {
      const { receiver, dataset, body } = place
      const each = (eachPerSecond * measureMs) / 1000 + 1
      await fillPayments(dataset, at => (at === 0 ? (perSecond * measureMs) / 1000 : each))
      if (isBeside) await add(dataset.url, dueSql(body, troubledOf(dataset), standingRange(count)))
      await receiver.forget()
      const paymentAt = (merchant, n) => paymentOf(dataset, merchant, n)
      const own = evenly(perSecond, measureMs, [0], paymentAt)
      const theirs = isBeside ? evenly(eachPerSecond * count, measureMs, others, paymentAt) : []
      const ids = new Set(own.map(payment => payment.id))
      const isOwn = name => ids.has(name)
      const node = bench.startChanging(dataset, 'own')
      try {
        const { latencies, used } = await timeChanges(
          bench,
          receiver,
          node,
          node,
          inOrder([...own, ...theirs]),
          isOwn,
        )
        const cold = shown(latencies.filter(({ atMs }) => atMs < coldMs))
        const then = shown(latencies.filter(({ atMs }) => atMs >= coldMs))
        const worst = Math.max(cold.worst, then.worst)
        return { ...used, ...then, coldP50: cold.p50, coldP99: cold.p99, worst }
      } finally {
        await node.stop()
      }
    },
  })
  return {
    title: 'Delivery beside trouble',
    table: 'isolation',
    about: [
      `One endpoint that answers, with ${perSecond} changes a second; then beside 50 that never answer, 25 that refuse`,
      `connections and 25 that answer 500, with ${standing} overdue deliveries and ${eachPerSecond} new one a second each.`,
      `Milliseconds from the return of the commit to the first byte: in the first ${coldMs / 1000} s after the start, and then.`,
    ],
    rounds,
    job: { warmMs: 0, measureMs },
    contenders: [
      contender('alone', '(c) alone', false),
      contender('beside', '(c) beside 100 in trouble', true),
    ],
    ratios: [
      { name: 'p99 beside/alone, cold', of: 'beside', to: 'alone', by: 'coldP99', atMost: 2.5 },
      { name: 'p99 beside/alone, then', of: 'beside', to: 'alone', by: 'p99', atMost: 2 },
    ],
    async prepare() {
      await bench.stopGateways()
      place.receiver = bench.startReceiver()
      place.body = await bodyInSql()
      const ports = [...(await place.receiver.open(['ok'])), ...(await openTroubled(bench))]
      place.dataset = await createDataset(bench, 'isolation', ports)
    },
  }
}

const inOrder = changes => changes.toSorted((a, b) => a.atMs - b.atMs)
const troubledOf = ({ merchants, urls }) => ({ merchants: merchants.slice(1), urls: urls.slice(1) })
const standingRange = count => ({ from: standingFrom, to: standingFrom + count * standing - 1 })

async function openTroubled(bench) {
  const { hanging, refusing, failing } = troubled
  const ports = await bench
    .startReceiver()
    .open([...Array(hanging).fill('hanging'), ...Array(failing).fill('failing')])
  return [...ports, ...(await Promise.all(Array.from({ length: refusing }, freePort)))]
}
