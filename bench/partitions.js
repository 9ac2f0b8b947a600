// node bench/partitions.js: what dividing the payments by merchant would change, as docs/growth.md has it. One table and one of
// 64 parts hold the same rows; each statement is run against both in turn, prepared, and undone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { median } from './report/figures.js'
import { query, startDatabase } from './rows/database.js'
import { createDataset } from './rows/dataset.js'
import { literal } from './rows/deliveries.js'
import { rowInSql, storedParts } from './rows/payments.js'
import { thisVersion } from './version.js'

const count = Number(process.argv[2] ?? 1_000_000)
const merchantCount = 64
const parts = 64
const times = 200
const firstOnes = 20 // not counted: their plans are new

const tables = ['payments_whole', 'payments_divided']

async function fill({ url, merchants }) {
  const divided = Array.from(
    { length: parts },
    (_, at) =>
      `create table payments_part_${at} partition of payments_divided for values with (modulus ${parts}, remainder ${at})`,
  )
  for (const text of [
    'create table payments_whole (like payments including all)',
    'create table payments_divided (like payments including all) partition by hash (merchant_id)',
    ...divided,
  ])
    await query(url, text)
  const ended = `case when n % 1000 = 0 then 'awaiting_payment' else 'paid' end`
  for (const [at, merchant_id] of merchants.entries()) {
    const { columns, values } = rows(merchant_id, ended)
    const numbers = `generate_series(1, ${Math.ceil((count - at) / merchantCount)}) n`
    for (const table of tables)
      await query(url, `insert into ${table} (${columns}) select ${values} from ${numbers}`)
  }
  await query(url, 'vacuum analyze')
  await query(url, 'checkpoint')
}

function rows(merchant_id, status) {
  const row = rowInSql({ merchant_id }, { ...storedParts, status })
  return { columns: Object.keys(row).join(', '), values: Object.values(row).join(', ') }
}

// The forms of the gateway's statements: a batch of new payments, the look-up of a status check, one for many
// merchants, and the search for expired payments of all merchants.
const statementsFor = (table, { merchants }) => {
  const { columns, values } = rows('?', `'awaiting_payment'`)
  const fromMany = values.replaceAll(literal('?'), 'merchant')
  return [
    {
      name: 'look up an invoice of one merchant',
      text: `select status from ${table} where merchant_id = $1 and mode = 'test' and invoice_id = $2`,
      valuesOf: n => [merchants[n % merchantCount], `INV-${1 + n}`],
    },
    {
      name: 'look up 64 invoices of 64 merchants',
      text: `select p.status from unnest($1::text[], $2::text[]) q (merchant, invoice) join ${table} p
        on p.merchant_id = q.merchant and p.mode = 'test' and p.invoice_id = q.invoice and p.merchant_id = any($1::text[])`,
      valuesOf: n => [merchants, merchants.map((_, at) => `INV-${1 + n + at}`)],
    },
    {
      name: 'store 64 payments of 64 merchants',
      text: `insert into ${table} (${columns}) select ${fromMany} from unnest($1::text[], $2::integer[]) q (merchant, n)
        on conflict (merchant_id, mode, invoice_id) do nothing returning tx_reference`,
      valuesOf: n => [merchants, merchants.map((_, at) => 50_000_000 + n * merchantCount + at)],
    },
    {
      name: 'find expired payments of all merchants',
      text: `select merchant_id, tx_reference from ${table} where status = 'awaiting_payment' and expires_at <= $1::timestamptz
        order by expires_at limit 100`,
      valuesOf: () => ['2000-01-01'], // none: what a poll of an idle gateway costs
    },
  ]
}

async function timesOf(client, { name, text, valuesOf }, table) {
  const ms = []
  for (let n = 0; n < times; n++) {
    await client.query('begin')
    const began = performance.now()
    await client.query({ name: `${name} ${table}`, text, values: valuesOf(n) })
    const took = performance.now() - began
    await client.query('rollback')
    ms.push(took)
  }
  return { first: ms[0], usual: median(ms.slice(firstOnes)) }
}

const shown = ms => `${ms.toFixed(2)} ms`
const mb = bytes => `${Math.round(bytes / 1e6)} MB`

async function compare(dataset) {
  const client = new Client({ connectionString: dataset.url, application_name: 'bench' })
  await client.connect()
  // As the gateway's own statements are planned.
  await client.query(`set plan_cache_mode = force_generic_plan; set jit = off; set enable_seqscan = off;
    set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off`)
  const [whole, divided] = tables.map(table => statementsFor(table, dataset))
  console.log(`\n| Statement | One table: first, usual | ${parts} parts: first, usual |\n|---|---|---|`)
  for (const [at, statement] of whole.entries()) {
    const one = await timesOf(client, statement, tables[0])
    const many = await timesOf(client, divided[at], tables[1])
    const cells = [one, many].map(({ first, usual }) => `${shown(first)}, ${shown(usual)}`)
    console.log(`| ${[statement.name, ...cells].join(' | ')} |`)
  }
  await client.end()
}

async function vacuum({ url }) {
  const took = async table => {
    const began = performance.now()
    await query(url, `vacuum (freeze, disable_page_skipping, analyze) ${table}`)
    return `${((performance.now() - began) / 1000).toFixed(2)} s`
  }
  const sizeOf = async table =>
    Number((await query(url, `select pg_total_relation_size('${table}') as bytes`))[0].bytes)
  const [one, part] = ['payments_whole', 'payments_part_0']
  console.log(`| freezing one vacuum | ${await took(one)} | ${await took(part)}: one of ${parts} |`)
  const whole = await sizeOf(one)
  await query(url, `delete from ${one} where right(invoice_id, 1) < '5'`)
  console.log(`| deleting half of the rows | ${mb(whole)}, then ${mb(await sizeOf(one))} | |`)
  console.log(`| vacuum after it | ${await took(one)}, then ${mb(await sizeOf(one))} | |`)
}

await thisVersion.build()
const folder = mkdtempSync(join(tmpdir(), 'tollgate-parts-'))
const server = await startDatabase(join(folder, 'data'))
try {
  console.log(`Filling two tables with ${count} payments of ${merchantCount} merchants each ...`)
  const dataset = await createDataset({ server }, 'parts', Array(merchantCount).fill(1))
  await fill(dataset)
  await compare(dataset)
  await vacuum(dataset)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
