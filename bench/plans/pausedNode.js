// Two nodes on one database, and one of them is paused now and then.
import { nextSeries } from '../contenders/meter.js'
import { countedText } from '../rows/counted.js'
import { toThisMachine } from '../contenders/gateway.js'
import { runRound } from '../contenders/pausedNode.js'
import { errorOf } from '../load/starved.js'
import { createDataset } from '../rows/dataset.js'

const shopCount = 8 // at the node that stays; one more is at the other
const connections = 32
const usualCapacityMs = 3000 // how long it is measured
const capacityGraceMs = 60_000
const share = 3 // the arrival is so small a part of it
const mostPerSecond = 200

export function pausedSection(bench, { rounds, measureMs, capacityMs = usualCapacityMs }) {
  const place = {}
  const about = [
    `Two gateways on one PostgreSQL. At one, ${shopCount} merchants ask for payments whose customers cancel them; at the other, one`,
    'merchant does, and it is stopped and continued at random. Milliseconds of the answers to those at the first one, and',
    'from their cancel to the first byte of its notification. Counted are all, of both nodes.',
  ]
  const notes = []
  let seed = 0
  const contender = (id, label, isPaused) => ({
    id,
    label,
    async run() {
      const { figures, stops } = await runRound(bench, place, measureMs, isPaused ? ++seed : undefined)
      if (isPaused) notes.push(`Seed ${seed}: stopped ${stops} times. ${countedText(figures)}`)
      return figures
    },
  })
  return {
    title: 'Beside a paused node',
    table: 'paused',
    about,
    rounds,
    job: { warmMs: 0, measureMs },
    contenders: [
      contender('both', '(c) both go on', false),
      contender('paused', '(c) the other is paused', true),
    ],
    ratios: [
      { name: 'p99 of answers', of: 'paused', to: 'both', by: 'p99', atMost: 2.5 },
      { name: 'p99 of notifications', of: 'paused', to: 'both', by: 'toldP99', atMost: 2.5 },
    ],
    limits: [
      { name: 'refused at the first node', of: 'paused', by: 'refused', below: 1, always: true },
      { name: 'lost', of: 'paused', by: 'lost', below: 1, always: true },
      { name: 'doubled', of: 'paused', by: 'doubled', below: 1, always: true },
    ],
    async prepare() {
      await bench.stopGateways()
      Object.assign(place, await openPlace(bench, capacityMs))
      about.push(
        `${place.perSecond} a second, which is at most a third of what the first node can: ${place.most} a second.`,
      )
    },
    facts: () => ({ notes }),
  }
}

async function openPlace(bench, capacityMs) {
  const receiver = bench.startReceiver()
  const dataset = await createDataset(
    bench,
    'paused',
    await receiver.open(Array(shopCount + 1).fill('keeping')),
  )
  const shops = dataset.callers.map((caller, at) => ({ caller, ipn_url: dataset.urls[at] }))
  const place = {
    receiver,
    dataset,
    shops: { ours: shops.slice(1), others: shops.slice(0, 1) },
    stays: await bench.startGateway(dataset, toThisMachine),
    other: await bench.startGateway(dataset, toThisMachine),
    load: [bench.startShops(), bench.startShops()],
  }
  const most = await rateOf(place, capacityMs)
  return { ...place, most: Math.floor(most), perSecond: Math.min(mostPerSecond, Math.floor(most / share)) }
}

/** @type {(place: any, capacityMs: number) => Promise<number>} */
async function rateOf({ load: [load], stays, shops }, capacityMs) {
  const capacity = { warmMs: 0, measureMs: capacityMs, graceMs: capacityGraceMs }
  const job = { ...capacity, port: stays.port, shops: shops.ours, connections, series: `C${nextSeries()}` }
  await load.run({ ...job, series: `W${nextSeries()}`, measureMs: capacityMs / 2 }) // to warm up
  const done = await load.run(job)
  const refused = done.find(payment => payment.refused)
  if (refused) throw errorOf(refused.refused)
  return (done.length * 1000) / capacityMs
}
