// Tollgate's deliveries beside systems that do nothing else, on the same endpoints. Only where --only asks for it.
import { killed } from '../peers/killed.js'
import { backlog, endToEnd } from '../peers/rates.js'
import { hanging, paced } from '../peers/times.js'

const lengths = {
  whole: { rounds: 2, count: 10_000, measureMs: 8000, hangingMs: 20_000, killedCount: 10_000 },
  quick: { rounds: 1, count: 4000, measureMs: 5000, hangingMs: 10_000, killedCount: 4000 },
  smallest: { rounds: 1, count: 400, measureMs: 1000, hangingMs: 500, killedCount: 400, burst: 20 },
}

export function peers(bench, size) {
  const length = lengths[size]
  return [backlog, endToEnd, paced, hanging, killed].map(section => section(bench, length))
}
