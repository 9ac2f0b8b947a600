// A backlog of deliveries as large as the contender needs.
import { delivering, startOurs } from './deliveryRate.js'
import { add, dueSql, empty, leftSql } from '../rows/deliveries.js'

const startMs = 1000 // of a process, beside its warming up
const usualTaste = { count: 40_000, warmMs: 800, measureMs: 1200 } // to see how large the backlog has to be
export const smallTaste = { count: 10_000, warmMs: 0, measureMs: 200 }
const spare = 1.3

// Of one round and of all; known when all have been tasted.
export const unknownSize = () => ({ ofRound: 0, whole: 0 })

// The machine may have become faster since the tasting: there is less left than a round needs, or a round ran out.
export const refillTo = size => fill => ({
  before: left => left < size.ofRound && fill(size.whole),
  ranOut() {
    size.ofRound *= 2
    size.whole *= 2
  },
})

/** @type {(bench: any, receiver: any, dataset: any, body: string, named: { id: string, label: string, refilling: any }) => any} */
export function ours(bench, receiver, dataset, body, { refilling, ...named }) {
  const { url } = dataset
  const fill = async count => {
    await empty(url)
    await add(url, dueSql(body, dataset, { to: count }))
  }
  const [start, refill] = [() => startOurs(bench, dataset), refilling(fill)]
  return { contender: delivering(bench, receiver, { ...named, url, leftSql, start, refill }), fill }
}

// The same backlog for all that are fast, so large that the fastest does not reach its end. Those that are not have a
// count of their own.
export async function fillAll(all, size, rounds, { warmMs, measureMs, taste = usualTaste }) {
  const rates = []
  for (const { contender, fill, ownCount } of all) {
    await fill(ownCount ?? taste.count)
    if (!ownCount) rates.push((await contender.run(taste)).rate)
  }
  const seconds = (startMs + warmMs + measureMs) / 1000
  size.ofRound = Math.ceil(Math.max(...rates) * seconds * spare)
  size.whole = size.ofRound * rounds
  for (const { fill, ownCount } of all) if (!ownCount) await fill(size.whole)
}
