// node bench/microseconds.js [SECONDS]: where the time of one initiation goes, at 256 connections. The gateway's part is
// from a CPU profile of the measured time, PostgreSQL's from pg_stat_statements and pg_stat_io. Microseconds of CPU time
// for each initiation, unless the line says otherwise. The profile and the counters slow both down: compare rates by
// `npm run bench`.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway } from './contenders/gateway.js'
import { straight, through } from './contenders/requests.js'
import { startWorker } from './load/worker.js'
import { pgbenchVersion } from './rivals/pgbench.js'
import { query, startDatabase } from './rows/database.js'
import { thisVersion } from './version.js'

const connections = 256
const longestWarmMs = 3000
const countersMs = 1500 // until the counters of idle connections are visible

// A sample belongs to the first line that fits its innermost frame, then the next frame outwards.
const parts = /** @type {const} */ ([
  ['parse the body', /dist\/(web\/http\/body|core\/interface\/json|runtime\/bodyQuota)/],
  [
    'find the merchant, verify the signature',
    /dist\/(actions\/interface\/authenticate|core\/interface\/signature|runtime\/callerCache|store\/merchants)/,
  ],
  ['batch', /dist\/runtime\/batcher/],
  ['build the statement, pg', /node_modules\/(pg|sql-template-tag|postgres)|dist\/store\//],
  ['answer', /node:_http_outgoing|dist\/web\/http\/apiRequest/],
  ['validate, warnings, digest, ids', /dist\/(actions|core|runtime)\//],
  ['route, log, metrics', /dist\/(web|observe)\/|node_modules/],
  ['garbage collection', /^\(garbage collector\)$/],
  ['native code without a caller: system calls', /^\(program\)$/],
])
// Samples with frames of Node alone.
const readHttp = 'read HTTP'
const sockets = 'sockets, timers, promises'

const seconds = Number(process.argv[2] ?? 5)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-microseconds-'))
chmodSync(folder, 0o711) // for the profile
/** @type {(() => unknown)[]} */
const cleanups = [() => rmSync(folder, { recursive: true, force: true })]

async function measure(server, load) {
  const database = await server.create('microseconds')
  const profiles = join(folder, 'profiles')
  const gateway = await startGateway(database, {}, profiles)
  cleanups.push(gateway.stop)
  const window = { from: 0, to: 0, before: /** @type {Promise<Counters> | undefined} */ (undefined) }
  const timed = {
    run: (job, start, stop) =>
      load.run(
        job,
        () => {
          window.from = monotonicUs()
          window.before = readCounters(database.url)
          start()
        },
        () => {
          window.to = monotonicUs()
          stop()
        },
      ),
  }
  const measureMs = seconds * 1000
  const job = { kind: 'initiation', warmMs: Math.min(longestWarmMs, measureMs), measureMs }
  const ours = through({ server, load: timed }, gateway, database, {
    id: 'c',
    label: '(c)',
    count: connections,
    emptied: true,
  })
  const done = await ours.run(job)
  await sleep(countersMs)
  const counted = difference(await window.before, await readCounters(database.url))
  await gateway.stop()
  print(done, profileOf(profiles, window), counted)
  if (!pgbenchVersion()) return
  const alone = await straight({ server, folder }, database, true).run(job)
  console.log(`\npgbench, the same rows by one statement each: ${round(alone.rate)} a second`)
  line('PostgreSQL, CPU', alone.cpuUs.postgres)
  line('pgbench, CPU', alone.cpuUs.load)
}

function print(done, profile, { rows, insertCalls, insertUs, otherUs, planUs, fsyncs, fsyncUs, walBytes }) {
  const perSample = done.cpuUs.gateway / profile.busyUs // a busy machine also delays a sample
  console.log(`${round(done.rate)} a second, p50 ${round(done.p50)} ms, p99 ${round(done.p99)} ms`)
  console.log(`other work used ${round(100 * done.others)} % of the CPU\n`)
  line('Gateway, CPU', done.cpuUs.gateway)
  for (const [name, us] of profile.parts) line(`  ${name}`, us * perSample)
  line('PostgreSQL, CPU', done.cpuUs.postgres)
  line(`  insert, ${round(rows / insertCalls)} rows each: time in the executor`, insertUs / rows)
  line('  other statements: time in the executor', otherUs / rows)
  line('  planning, of all', planUs / rows)
  line('Load generator, CPU', done.cpuUs.load)
  console.log()
  line('WAL, bytes', walBytes / rows)
  line(`WAL, waiting for ${round(fsyncs / seconds)} fsyncs a second, time`, fsyncUs / rows)
  line('response, time', (connections * 1e6) / done.rate)
}

const round = number => Math.round(number).toLocaleString('en')
const line = (name, us) => console.log(`${name.padEnd(62)}${us.toFixed(us < 10 ? 1 : 0).padStart(8)}`)

const monotonicUs = () => Number(process.hrtime.bigint() / 1000n) // the clock of CPU profiles

/** @typedef {Record<'rows' | 'insertCalls' | 'insertUs' | 'otherUs' | 'planUs' | 'fsyncs' | 'fsyncUs' | 'walBytes', number>} Counters */

/** @type {(url: string) => Promise<Counters>} */
async function readCounters(url) {
  const [statements] = await query(
    url,
    `select coalesce(sum(rows) filter (where is_insert), 0)::float8 as rows,
      coalesce(sum(calls) filter (where is_insert), 0)::float8 as "insertCalls",
      coalesce(sum(total_exec_time) filter (where is_insert), 0) * 1000 as "insertUs",
      coalesce(sum(total_exec_time) filter (where not is_insert), 0) * 1000 as "otherUs",
      coalesce(sum(total_plan_time), 0) * 1000 as "planUs"
    from pg_stat_statements s, lateral (select query ilike '%insert into payments (%') as i (is_insert)
    where s.dbid = (select oid from pg_database where datname = current_database())
      and query not like '%pg_stat_%'`,
  )
  const [wal] = await query(
    url,
    `select sum(fsyncs)::float8 as fsyncs, sum(fsync_time) * 1000 as "fsyncUs",
      (select wal_bytes::float8 from pg_stat_wal) as "walBytes"
    from pg_stat_io where object = 'wal'`,
  )
  return { ...statements, ...wal }
}

const difference = (before, after) =>
  /** @type {Counters} */ (
    Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name]]))
  )

// The samples of a time, by part.
function profileOf(profiles, { from, to }) {
  const [file = ''] = readdirSync(profiles)
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(readFileSync(join(profiles, file), 'utf8'))
  const byId = new Map(nodes.map(node => [node.id, node]))
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id])))
  const partOf = new Map(nodes.map(({ id }) => [id, partOfStack(id)]))
  const totals = new Map([readHttp, sockets, ...parts.map(([name]) => name)].map(name => [name, 0]))
  let [at, busyUs] = [startTime, 0]
  samples.forEach((id, index) => {
    const us = timeDeltas[index]
    at += us
    const part = partOf.get(id)
    if (at < from || at > to || part === undefined) return
    busyUs += us
    totals.set(part, (totals.get(part) ?? 0) + us)
  })
  return { busyUs, parts: [...totals] }

  // Undefined: idle.
  function partOfStack(id) {
    const frames = []
    for (let one = id; one !== undefined; one = parentOf.get(one)) {
      const { functionName, url } = byId.get(one).callFrame
      frames.push(url || functionName)
    }
    if (frames[0] === '(idle)') return undefined
    for (const frame of frames) for (const [name, pattern] of parts) if (pattern.test(frame)) return name
    return frames.some(frame => frame.startsWith('node:_http')) ? readHttp : sockets
  }
}

try {
  await thisVersion.build()
  const server = await startDatabase(join(folder, 'data'), { counting: true })
  cleanups.push(server.stop)
  const load = startWorker('load/requestsProcess.js')
  cleanups.push(load.stop)
  await measure(server, load)
} finally {
  for (let work = cleanups.pop(); work; work = cleanups.pop()) await work()
}
