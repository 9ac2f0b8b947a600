// What is measured of the way to the merchants. Nothing starts before its section does.
import { smallTaste } from '../contenders/backlog.js'
import { backlogSection } from './backlog.js'
import { growthSection } from './growth.js'
import { isolationSection } from './isolation.js'
import { latencySections } from './latency.js'

const lengths = {
  whole: {
    backlog: { rounds: 3, measureMs: 8000 },
    latency: { rounds: 3, measureMs: 6000 },
    isolation: { rounds: 5, measureMs: 16_000, coldMs: 10_000 },
    growth: { rounds: 3, measureMs: 3000 },
  },
  quick: {
    backlog: { rounds: 2, measureMs: 4000 }, // pg-boss sends in bursts, with seconds between them on a busy machine
    latency: { rounds: 1, measureMs: 4000 },
    isolation: { rounds: 1, measureMs: 8000, coldMs: 4000 },
  },
  smallest: {
    backlog: { rounds: 1, measureMs: 700, warmMs: 200, taste: smallTaste, optionalRivals: true },
    latency: { rounds: 1, measureMs: 500, warmMs: 200 },
    isolation: { rounds: 1, measureMs: 1000, coldMs: 500 },
    growth: { rounds: 1, measureMs: 700, warmMs: 200, finished: 2000 },
  },
}

export function delivery(bench, size) {
  const { backlog, latency, isolation, growth } = lengths[size]
  return [
    backlogSection(bench, backlog),
    ...latencySections(bench, latency),
    isolationSection(bench, isolation),
    ...(growth ? [growthSection(bench, growth)] : []),
  ]
}
