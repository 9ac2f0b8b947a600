// What is measured against what.
import { straight, through } from '../contenders/requests.js'
import { fill } from '../rows/database.js'
import { oneStatementEach } from '../contenders/gateway.js'
import { once } from './once.js'

const lengths = {
  whole: { rounds: 5, measureMs: 2000, warmUpMs: 4000, connections: [64, 256] },
  quick: { rounds: 3, measureMs: 700, warmUpMs: 2000, connections: [256] },
  smallest: { rounds: 1, measureMs: 700, warmUpMs: 0, connections: [16], storedForStatus: 2000 },
}
const warmMs = 400 // at the beginning of each round; not measured
const usualStoredForStatus = 20_000
const calms = {
  whole: { rounds: 5, measureMs: 3000, perSecond: 100, connections: 16 },
  smallest: { rounds: 1, measureMs: 700, perSecond: 100, connections: 8 },
}
const crowds = {
  whole: { rounds: 4, stored: 1_000_000, connections: 64 },
  smallest: { rounds: 1, stored: 2000, connections: 16 },
}
const storedInEmpty = 1000 // a status check has to find something

// (c) against (a) and (b): as fast as they can, then at a calm pace.
export function versus(bench, size) {
  const { rounds, measureMs, warmUpMs, connections, storedForStatus = usualStoredForStatus } = lengths[size]
  const calm = calms[size]
  const [database, b, c] = /** @type {any[]} */ ([{}, {}, {}])
  const start = once(async () => {
    Object.assign(database, await bench.server.create('versus'))
    Object.assign(b, await bench.startGateway(database, oneStatementEach))
    Object.assign(c, await bench.startGateway(database))
  })
  const most = Math.max(...connections)
  const pair = (count, emptied) => [
    through(bench, b, database, { id: `b${count}`, label: '(b) one statement each', count, emptied }),
    through(bench, c, database, { id: `c${count}`, label: '(c) as it ships', count, emptied }),
  ]
  const fast = (title, kind, emptied, targets) => ({
    title,
    rounds,
    warmUpMs,
    prepare: start,
    job: { kind, stored: storedForStatus, warmMs, measureMs },
    contenders: [straight(bench, database, emptied), ...connections.flatMap(count => pair(count, emptied))],
    ratios: connections.flatMap(count => [
      {
        name: `(c)/(a) at ${count}`,
        of: `c${count}`,
        to: 'a',
        by: 'rate',
        ...(count === most && targets.toA),
      },
      {
        name: `(c)/(b) at ${count}`,
        of: `c${count}`,
        to: `b${count}`,
        by: 'rate',
        ...(count === most && targets.toB),
      },
    ]),
  })
  const filled = once(async () => {
    await start()
    await fill(database, storedForStatus)
  })
  const slow = (title, kind) => ({
    title: `${title}, ${calm.perSecond} a second`,
    rounds: calm.rounds,
    prepare: kind === 'status' ? filled : start,
    job: { kind, stored: storedForStatus, warmMs, measureMs: calm.measureMs, perSecond: calm.perSecond },
    contenders: pair(calm.connections, false),
    // Both do the same work without concurrent requests, so the middle of a few rounds lies to either side of 1.
    ratios: [
      {
        name: 'p50 (c)/(b)',
        of: `c${calm.connections}`,
        to: `b${calm.connections}`,
        by: 'p50',
        atMost: 1.05,
      },
    ],
  })
  return [
    fast('Initiation', 'initiation', true, { toA: bench.loop ? {} : { atLeast: 0.5 }, toB: { atLeast: 2 } }),
    ...(calm ? [slow('Initiation', 'initiation')] : []),
    { ...fast('Status check', 'status', false, { toB: { atLeast: 2 } }), prepare: filled },
    ...(calm ? [slow('Status check', 'status')] : []),
  ]
}

// (c) on a table with many payments against (c) on an empty one.
export function crowded(bench, size) {
  const crowd = crowds[size]
  if (!crowd) return []
  const { measureMs, warmUpMs } = lengths[size]
  const [empty, full, onEmpty, onFull] = /** @type {any[]} */ ([{}, {}, {}, {}])
  const start = once(async () => {
    Object.assign(empty, await bench.server.create('empty'))
    Object.assign(full, await bench.server.create('crowded'))
    Object.assign(onEmpty, await bench.startGateway(empty))
    Object.assign(onFull, await bench.startGateway(full))
    await fill(full, crowd.stored)
  })
  const filled = async () => {
    await start()
    await fill(empty, storedInEmpty)
  }
  const count = crowd.connections
  const section = (title, kind, emptied) => ({
    title: `${title}, ${crowd.stored.toLocaleString('en')} stored`,
    rounds: crowd.rounds,
    warmUpMs,
    job: { kind, warmMs, measureMs },
    contenders: [
      through(bench, onEmpty, empty, {
        id: 'empty',
        label: '(c) on an empty table',
        count,
        emptied,
        stored: storedInEmpty,
      }),
      through(bench, onFull, full, {
        id: 'full',
        label: '(c) on the full table',
        count,
        stored: crowd.stored,
      }),
    ],
    ratios: [{ name: 'full/empty', of: 'full', to: 'empty', by: 'rate', atLeast: 0.85 }],
  })
  return [
    { ...section('Initiation', 'initiation', true), prepare: start },
    { ...section('Status check', 'status', false), prepare: filled },
  ]
}
