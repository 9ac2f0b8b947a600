// One private PostgreSQL in a temporary folder, as Tollgate itself would start it, with several databases.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { cpuMsOfFamily } from './processes.js'
import { rowInSql } from './rows.js'

export const masterKey = '7'.repeat(64)

export async function startDatabase(folder) {
  const { startEmbedded } = await import('../dist/store/embedded.js')
  const embedded = await startEmbedded(folder, 'command')
  const pid = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'latin1').split('\n')[0])
  const [facts] = await query(
    embedded.url,
    `select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit`,
  )
  return {
    facts,
    cpuMs: () => cpuMsOfFamily(pid),
    create: name => createDatabase(embedded.url, name),
    stop: () => embedded.stop(),
  }
}

// A migrated database with one merchant that may ask as often as it likes.
async function createDatabase(server, name) {
  await query(server, `create database ${name}`)
  const url = server.replace('/tollgate?', `/${name}?`)
  const [{ openDb }, { migrate }, { onboard }, { setMerchant }, { givenMasterKeys }] = await Promise.all([
    import('../dist/store/db.js'),
    import('../dist/store/migrate.js'),
    import('../dist/actions/onboard.js'),
    import('../dist/actions/setMerchant.js'),
    import('../dist/store/masterKeys.js'),
  ])
  const db = openDb(url, 2, 'bench')
  try {
    await migrate(db)
    const keys = givenMasterKeys([Buffer.from(masterKey, 'hex')])
    const { merchant_id, test } = await onboard(db, keys, 'Bench', ['test'], new Date())
    await setMerchant(db, merchant_id, ['rate_limit=0'])
    return { url, merchant: { merchant_id, ...test } }
  } finally {
    await db.end()
  }
}

// So many stored payments and no others; their invoice ids count from 1.
export async function fill({ url, merchant }, count) {
  const row = rowInSql(merchant, {
    invoice_id: `'INV-' || n`,
    key: `lpad(n::text, 18, '0')`,
    tail: `substr(md5(n::text), 1, 13)`,
    status: `case when n % 10 = 0 then 'failed' else 'paid' end`,
  })
  await query(url, 'truncate payments')
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
  if (emptied) await query(url, 'truncate payments')
  await query(url, 'checkpoint')
  await query(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tollgate'`,
  )
}

async function query(url, text) {
  const client = new Client({ connectionString: url, application_name: 'bench' })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
