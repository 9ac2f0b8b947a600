// One private PostgreSQL in a temporary folder, as Tollgate itself would start it, with several databases.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { cpuMsOfFamily } from '../contenders/usage.js'
import { rowInSql, storedParts } from './payments.js'
import { thisVersion } from '../version.js'

const empty = 'truncate payments, events, sandbox_charges cascade' // and what refers to them

export const masterKey = '7'.repeat(64)

// `counting`: PostgreSQL counts statements and measures the time of its WAL, which slows it down.
export async function startDatabase(folder, { counting = false } = {}) {
  const [{ startEmbedded }] = await thisVersion.load('postgres/embedded')
  await (await startEmbedded(folder, 'command')).stop()
  await mayMakeDatabases(folder, counting ? countingStatements : [])
  const embedded = await startEmbedded(folder, 'command')
  const pid = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'latin1').split('\n')[0])
  const [facts] = await query(
    embedded.url,
    `select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit`,
  )
  const templates = new Map()
  return {
    facts,
    cpuMs: () => cpuMsOfFamily(pid),
    create: (name, version) => createDatabase(embedded.url, templates, name, version),
    createBare: name => createBare(embedded.url, name),
    stop: () => embedded.stop(),
  }
}

// The benchmark uses the role of the application, which may do neither otherwise.
async function mayMakeDatabases(folder, others) {
  const [{ openDataFolder }, { asSuperuser }] = await thisVersion.load(
    'postgres/dataFolder',
    'postgres/access',
  )
  const more = ['alter role tollgate_app createdb', 'grant pg_checkpoint to tollgate_app']
  await asSuperuser(openDataFolder(folder), undefined, [
    ...more.map(statement => ['postgres', statement]),
    ...others,
  ])
}

// Each database that is created later has the extension.
const countingStatements = [
  ['postgres', `alter system set shared_preload_libraries = 'pg_stat_statements'`],
  ['postgres', 'alter system set pg_stat_statements.track_planning = on'],
  ['postgres', 'alter system set track_wal_io_timing = on'],
  ['postgres', 'grant pg_read_all_stats to tollgate_app'],
  ['template1', 'create extension pg_stat_statements'],
]

async function createBare(server, name, template = 'template1') {
  await query(server, `create database ${name} template ${template}`)
  return server.replace('/tollgate?', `/${name}?`)
}

const createDatabase = async (server, templates, name, version = thisVersion) =>
  addMerchant(await createBare(server, name, await templateOf(server, templates, version)), version)

// A database as a version migrates it, with one merchant that may ask as often as it likes.
export async function prepareDatabase(url, version = thisVersion) {
  await migrateDatabase(url, version)
  return addMerchant(url, version)
}

async function addMerchant(url, version) {
  const [{ openDb }, { onboard }, { setMerchant }, { givenMasterKeys }] = await version.load(
    'store/db',
    'actions/merchants/onboard',
    'actions/merchants/setMerchant',
    'start/masterKeys',
  )
  const db = openDb(url, 2, 'bench')
  try {
    const keys = givenMasterKeys([Buffer.from(masterKey, 'hex')])
    const { merchant_id, test } = await onboard(db, keys, 'Bench', ['test'], new Date())
    await setMerchant(db, merchant_id, ['rate_limit=0'])
    return { url, version, merchant: { merchant_id, ...test } }
  } finally {
    await db.end()
  }
}

// Each version migrates one database; the others are copies of it, which takes a fraction of the time.
async function templateOf(server, templates, version) {
  const { copyOf = version.folder } = version
  const made = templates.get(copyOf)
  if (made) return made
  const name = await migrateTemplate(server, `migrated_${templates.size}`, version)
  templates.set(copyOf, name)
  return name
}

// It can only be copied while no session is connected, not even autovacuum.
async function migrateTemplate(server, name, version) {
  await migrateDatabase(await createBare(server, name), version)
  await query(server, `alter database ${name} allow_connections false`)
  return name
}

async function migrateDatabase(url, version) {
  const [{ openDb }, { migrate }] = await version.load('store/db', 'store/migrate/migrate')
  const db = openDb(url, 2, 'bench')
  try {
    await migrate(db)
  } finally {
    await db.end()
  }
}

const ended = `case when n % 10 = 0 then 'failed' else 'paid' end`

// So many stored payments and no others; their invoice ids count from 1.
export async function fill({ url, merchant }, count, status = ended) {
  const row = rowInSql(merchant, { ...storedParts, status })
  await truncate(url, empty)
  await query(
    url,
    `insert into payments (${Object.keys(row).join(', ')})
      select ${Object.values(row).join(', ')} from generate_series(1, ${count}) n`,
  )
  await query(url, 'vacuum analyze payments')
  await query(url, 'checkpoint')
}

// Every round begins alike: with the same rows, nothing left to write, and new connections. The last also
// because two gateways and (a) together have more connections than the server takes; a gateway opens
// new ones by itself.
export async function reset({ url }, { emptied }) {
  if (emptied) await truncate(url, empty)
  await query(url, 'checkpoint')
  await query(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tollgate'`,
  )
}

// For rounds in which payments are lived to their end.
export const emptyAll = ({ url }) =>
  truncate(
    url,
    'truncate payments, events, sandbox_charges, notifications, deliveries, tries, messages cascade',
  )

// Workers of a gateway that runs meanwhile may hold one of these tables and wait for another. A truncate that PostgreSQL
// ends for this is repeated.
export async function truncate(url, text) {
  const deadlock = '40P01'
  for (let left = 10; ; left--)
    try {
      return await query(url, text)
    } catch (error) {
      if (error.code !== deadlock || left === 0) throw error
    }
}

export async function query(url, text) {
  const client = new Client({ connectionString: url, application_name: 'bench' })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

// What the server has written since it was made: bytes of WAL, and transactions that wrote.
export async function written(url) {
  const [row] = await query(
    url,
    `select (pg_current_wal_insert_lsn() - '0/0')::float8 as "walBytes",
      pg_snapshot_xmax(pg_current_snapshot())::text::float8 as transactions`,
  )
  return row
}
