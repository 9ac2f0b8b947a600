// node bench/indexSizes.js: what payments leave in the database for ever, by table and by index, as docs/archive.md has it.
// Each was initiated, paid at the first attempt, notified and acknowledged; one in ten at the second try.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { query, startDatabase } from './rows/database.js'
import { literal } from './rows/deliveries.js'
import { fillLedger, fillLists, rowsOf } from './rows/lists.js'
import { thisVersion } from './version.js'

const count = Number(process.argv[2] ?? 200_000)

async function fill(url, merchant_id) {
  const end = new Date()
  const [mine, rows] = [literal(merchant_id), rowsOf(count, end)]
  await fillLists(url, merchant_id, count, end)
  await fillLedger(url, merchant_id, count, end)
  for (const text of [
    `insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state, instrument,
        payer, lang, provider_ref, charged, polls, created_at, updated_at, ended_at)
      select ${mine}, ${mine} || substr(md5(n::text), 1, 26), reference, 1, 'sandbox', 'mtn_mobile_money',
        case when n % 10 < 2 then 'failed' else 'paid' end, '+23324' || lpad((n % 9999991)::text, 7, '0'),
        md5((n % 50000)::text), 'en', 'MP' || n, 2550, 2, at, at, at ${rows}`,
    `insert into paid_references (account, reference, merchant_id, attempt_id)
      select 'sandbox', 'MP' || n, ${mine}, ${mine} || substr(md5(n::text), 1, 26) ${rows} where n % 10 >= 2`,
    `insert into events (merchant_id, tx_reference, sequence, kind, cause, attempt_id, from_status, to_status, at)
      select ${mine}, reference, step, (array['attempt_started', 'attempt_pending', 'attempt_paid', 'status_changed'])[step],
        'provider', ${mine} || substr(md5(n::text), 1, 26), case when step = 4 then 'awaiting_payment' end,
        case when step = 4 then 'paid' end, at ${rows}, generate_series(1, 4) step`,
    `insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result, answer)
      select ${mine}, reference, 1, 1, at, 12, '192.0.2.7', 503, 'refused', 'busy' ${rows} where n % 10 = 0`,
  ])
    await query(url, text)
}

const grown = `('payments', 'attempts', 'events', 'notifications', 'deliveries', 'tries', 'paid_references',
  'transfers')`

const tables = `select relname, pg_table_size(relid) as rows, pg_indexes_size(relid) as indexes
  from pg_stat_user_tables where relname in ${grown} order by relname`

const indexes = `select relname, indexrelname, pg_relation_size(indexrelid) as bytes
  from pg_stat_user_indexes where relname in ${grown} order by relname, indexrelname`

const each = bytes => Number(bytes) / count

function print(sizes, parts) {
  for (const { relname, rows, indexes: own } of sizes)
    console.log(`| ${relname} | ${Math.round(each(rows))} | ${Math.round(each(own))} |`)
  const all = sizes.reduce((sum, { rows, indexes: own }) => sum + each(rows) + each(own), 0)
  console.log(`In all ${Math.round(all)} bytes for each payment.\n`)
  for (const { relname, indexrelname, bytes } of parts)
    console.log(`| \`${relname}\` | \`${indexrelname}\` | ${each(bytes).toFixed(1)} | |`)
}

await thisVersion.build()
const folder = mkdtempSync(join(tmpdir(), 'tollgate-sizes-'))
const server = await startDatabase(join(folder, 'data'))
try {
  const { url, merchant } = await server.create('sizes')
  await fill(url, merchant.merchant_id)
  await query(url, 'vacuum analyze')
  print(await query(url, tables), await query(url, indexes))
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
