// The columns of a section: what each is called, and how it shows the figures of a row.
import { peerTables } from '../peers/tables.js'

const rate = ['rate/s', row => (row.rate < 10 ? row.rate.toFixed(1) : whole(row.rate))]
const cpuOf = (first, last) => [
  [first, row => cpu(row.cpuUs.gateway)],
  ['PostgreSQL', row => cpu(row.cpuUs.postgres)],
  [last, row => cpu(row.cpuUs.load)],
]
const ms = (title, name) => [title, row => row[name].toFixed(1)]

// What a section shows of each contender.
export const tables = {
  requests: [
    ['connections', row => String(row.connections)],
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ...cpuOf('gateway', 'load'),
  ],
  payments: [
    ['at once', row => String(row.connections)],
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ...cpuOf('gateway', 'load'),
    ['provider', row => cpu(row.cpuUs.provider)],
  ],
  sharded: [
    ['at once', row => String(row.connections)],
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ...cpuOf('gateway', 'load'),
    ['coord.', row => cpu(row.cpuUs.coordinator)],
    ['workers', row => cpu(row.cpuUs.workers)],
  ],
  backlog: [
    rate,
    ...cpuOf('worker', 'receiver'),
    ['lost', row => worst(row, 'lost')],
    ['twice', row => worst(row, 'twice')],
  ],
  latency: [
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ms('worst ms', 'worst'),
    ...cpuOf('gateway', 'receiver'),
  ],
  isolation: [
    ms('cold p50', 'coldP50'),
    ms('cold p99', 'coldP99'),
    ms('then p50', 'p50'),
    ms('then p99', 'p99'),
    ms('worst ms', 'worst'),
  ],
  expiry: [rate, ...cpuOf('gateway', '').slice(0, 2)],
  paused: [
    rate,
    ms('answer p50', 'p50'),
    ms('answer p99', 'p99'),
    ms('told p50', 'toldP50'),
    ms('told p99', 'toldP99'),
    ms('told worst', 'toldWorst'),
    ['lost', row => worst(row, 'lost')],
    ['doubled', row => worst(row, 'doubled')],
    ['came twice', row => worst(row, 'twice')],
    ['refused', row => worst(row, 'refused')],
  ],
  arrivals: [
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ms('worst ms', 'worst'),
    ['refused', row => worst(row, 'refused')],
    ['seconds', row => row.seconds.toFixed(1)],
  ],
  overload: [
    ['offered', row => whole(row.offered)],
    ['accepted', row => whole(row.accepted)],
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ['refused', row => whole(row.shed)],
    ms('their p99', 'shedP99'),
    ['failed', row => worst(row, 'failed')],
    ms('page p99', 'pageP99'),
    ms('form p99', 'payP99'),
    ms('recovered', 'recoveredMs'),
    ['MB', row => whole(row.peakMb)],
  ],
  growingTables: [
    rate,
    ms('p99 ms', 'p99'),
    ['WAL', row => whole(row.walBytes)],
    ['status/s', row => whole(row.statusRate)],
    ['page/s', row => whole(row.pageRate)],
    ms('look ms', 'lookMs'),
    ms('take ms', 'takeMs'),
    ['delivery/s', row => whole(row.deliveryRate)],
    ms('lists ms', 'listMs'),
    ms('searches ms', 'searchMs'),
    ['rows B', row => whole(row.rowBytes)],
    ['indexes B', row => whole(row.indexBytes)],
    ['filled s', row => whole(row.filledSeconds)],
  ],
  flood: [
    ['offered', row => whole(row.offered)],
    ['accepted', row => whole(row.accepted)],
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ['refused', row => whole(row.shed)],
    ['failed', row => worst(row, 'failed')],
  ],
  callback: [ms('p50 ms', 'p50'), ms('p99 ms', 'p99'), ms('worst ms', 'worst')],
  pages: [ms('p50 ms', 'p50'), ms('worst ms', 'worst'), ...cpuOf('gateway', '').slice(0, 2)],
  csv: [
    ['rows', row => whole(row.requests)],
    ['seconds', row => row.seconds.toFixed(1)],
    ['rows/s', row => whole(row.rate)],
    ['MB before', row => whole(row.startMb)],
    ['MB at most', row => whole(row.peakMb)],
    ...cpuOf('gateway', '').slice(0, 2),
  ],
  backup: [
    ['payments', row => whole(row.requests)],
    ['all rows', row => whole(row.rows)],
    ['seconds', row => row.seconds.toFixed(1)],
    ['file MB', row => row.fileMb.toFixed(1)],
    ['MB at most', row => whole(row.peakMb)],
    ...cpuOf('gateway', '').slice(0, 2),
  ],
  ...peerTables,
  growth: [rate, ms('look ms', 'lookMs'), ms('take ms', 'takeMs'), ...cpuOf('gateway', 'receiver')],
}
const worst = ({ rounds }, name) => whole(Math.max(...rounds.map(round => round[name])))
export const whole = n => Math.round(n).toLocaleString('en')
const cpu = us => (us === undefined ? '–' : whole(us))
