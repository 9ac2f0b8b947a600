// A migration builds a large index while payments come in.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { createMeter, nextSeries } from '../contenders/meter.js'
import { query } from '../rows/database.js'
import { quantile, sorted } from '../report/figures.js'
import { thisVersion } from '../version.js'

const perSecond = 200
const usualBeforeMs = 8000
const warmUpMs = 2000
const guessedMs = 20_000 // what the index takes, for the bar

export function indexSection(bench, { rounds, events, beforeMs = usualBeforeMs }) {
  const place = /** @type {any} */ ({}) // known when it is prepared
  const contender = (id, label, work) => ({
    id,
    label,
    run: () => timeArrivals(bench, place, () => work(place)),
  })
  return {
    title: 'An index while initiations go on',
    table: 'arrivals',
    about: [
      `${perSecond} initiations a second, before and while a migration outside a transaction builds an index over ${events.toLocaleString('en')}`,
      'events; and how many seconds that takes.',
    ],
    rounds,
    job: { warmMs: 0, measureMs: (beforeMs + guessedMs) / 2 },
    contenders: [
      contender('before', '(c) before', () => sleep(beforeMs)),
      contender('during', '(c) while the index is built', buildIndex),
    ],
    ratios: [
      { name: 'p50 during/before', of: 'during', to: 'before', by: 'p50' },
      { name: 'p99 during/before', of: 'during', to: 'before', by: 'p99' },
    ],
    limits: [{ name: 'refused', of: 'during', by: 'refused', below: 1, always: true }],
    async prepare() {
      await bench.stopGateways()
      place.folder = bench.folder
      place.database = await bench.server.create('index')
      place.gateway = await bench.startGateway(place.database, {})
      place.arrivals = bench.startArrivals()
      await addEvents(place.database, events)
      await place.arrivals.during(jobFor(place), () => sleep(warmUpMs))
    },
  }
}

const jobFor = ({ gateway: { port, merchant } }) => ({
  port,
  merchant,
  perSecond,
  series: `A${nextSeries()}`,
})

async function timeArrivals(bench, place, work) {
  const { arrivals, gateway, database } = place
  await query(database.url, 'checkpoint')
  const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
  const cpuBefore = arrivals.cpuMs()
  meter.start()
  const { times, refusals, measuredMs } = await arrivals.during(jobFor(place), work)
  meter.stop()
  const ascending = sorted(times)
  const figures = {
    requests: times.length,
    rate: (times.length * 1000) / measuredMs,
    p50: quantile(ascending, 0.5),
    p99: quantile(ascending, 0.99),
    cpuMs: arrivals.cpuMs() - cpuBefore,
  }
  return {
    ...meter.complete(figures),
    worst: ascending.at(-1),
    refused: refusals.length,
    seconds: measuredMs / 1000,
  }
}

const addEvents = async ({ url, merchant: { merchant_id } }, count) => {
  await query(
    url,
    `insert into events (merchant_id, tx_reference, sequence, kind, cause, reason, at)
      select '${merchant_id}', 'TG-' || lpad((n / 3)::text, 18, '0'), n % 3, 'attempt_pending', 'provider', '',
        now() - interval '30 days' + n * interval '100 milliseconds'
      from generate_series(1, ${count}) n`,
  )
  await query(url, 'vacuum analyze events')
}

let built = 0

// By the migration runner of Tollgate, from a separate folder with one file.
async function buildIndex({ folder, database }) {
  const migrations = mkdtempSync(join(folder, 'migrations-'))
  const name = `bench_${++built}`
  writeFileSync(
    join(migrations, `${9000 + built}_${name}.sql`),
    `-- outside a transaction\ncreate index concurrently if not exists ${name} on events (merchant_id, kind, at);\n`,
  )
  const [{ openDb }, { migrate }] = await thisVersion.load('store/db', 'store/migrate/migrate')
  const db = openDb(database.url, 2, 'bench')
  try {
    await migrate(db, { folder: pathToFileURL(`${migrations}/`) })
  } finally {
    await db.end()
  }
  const [made] = await query(
    database.url,
    `select indisvalid as valid from pg_index where indexrelid = to_regclass('${name}')`,
  )
  if (!made?.valid) throw new Error('The migration did not build its index.')
}
