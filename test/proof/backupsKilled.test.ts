import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBackupFile } from '../../src/actions/backups/readBackup.ts'
import { addressOfUrl } from '../../src/start/machine.ts'
import { backupTables } from '../../src/store/backups/backupTables.ts'
import { migrationNames } from '../../src/store/migrate/migrationList.ts'
import { launch, tollgateJson } from '../cli/tollgate.ts'
import { freshDatabase, query } from '../support/database/database.ts'
import { waitsForLock } from '../support/database/migrations.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'
import { yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'
import { type Moment, runKilled } from '../support/processes/killedCommand.ts'

// kill -9 of backup and restore at one statement after the other, and two moves at once.
const folder = mkdtempSync(join(tmpdir(), 'tollgate-killed-'))
const soon = { timeout: 30_000, interval: 50 }

let shop: TestShop
let source: PostgresProxy // to the database of the shop
let content: Awaited<ReturnType<typeof contentOf>> // before its backup, which the audit log records
beforeAll(async () => {
  shop = await openShop()
  const ama = await shop.addMerchant()
  for (let number = 0; number < 3; number++) await shop.try(await shop.ask(ama), yes)
  await query(
    shop.url,
    `insert into installation (state, reason, moved_to, since) values ('original', '', '', now())`,
  )
  source = await startPostgresProxy(shop.url)
  content = await contentOf(shop.url)
})
afterAll(async () => {
  await source.stop()
  await shop.stop()
  rmSync(folder, { recursive: true, force: true })
})

const contentOf = async (url: string) => {
  const tables = backupTables(migrationNames()).filter(table => !/^(backups|installation.*)$/.test(table))
  const digests = []
  for (const name of tables)
    digests.push([
      name,
      await query(url, `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${name} t`),
    ])
  return digests
}

const stateOf = async (url: string) => {
  const [{ isMade }] = await query(url, `select to_regclass('installation') is not null as "isMade"`)
  return isMade && (await query(url, 'select state, reason, moved_to from installation'))[0]
}
const original = { state: 'original', reason: '', moved_to: '' }

// Of the killed command, as soon as the server has noticed its death.
const locks = `
  select application_name from pg_stat_activity join pg_locks using (pid)
  where datname = current_database() and application_name ~ '^tollgate (backup|restore|move)'`
const leavesNothing = async (url: string) => {
  await expect.poll(() => query(url, locks), soon).toEqual([])
  expect(
    await query(url, 'select slot_name from pg_replication_slots where database = current_database()'),
  ).toEqual([])
}

const env = (url: string) => ({ ...shop.env, DATABASE_URL: url })
const drafts = () => readdirSync(folder).filter(name => name.endsWith('.part'))

test('a killed backup leaves no file that is whole, no lock and no slot', async () => {
  const moments: Moment[] = [
    { at: /^begin isolation level repeatable read read only/, is: 'unsent' },
    { at: /^copy "merchants"/, is: 'done' },
    { at: /^copy "payments"/, is: 'unsent' },
    { at: /from transfers group by/, is: 'done' }, // all rows are in the draft
  ]
  for (const moment of moments) await runKilled(source, moment, env(source.url), 'backup', '--out', folder)
  expect(readdirSync(folder)).toEqual(drafts())
  expect(drafts().length).toBe(3)
  for (const name of drafts())
    await expect(checkBackupFile({ path: join(folder, name), passphrase: undefined })).rejects.toThrow()
  await leavesNothing(shop.url)
  expect(await contentOf(shop.url)).toEqual(content)
  expect(await query(shop.url, 'select from backups')).toEqual([])
})

test('a backup that is killed before it is recorded is whole, and the next one works', async () => {
  await runKilled(
    source,
    { at: /insert into backups/, is: 'unsent' },
    env(source.url),
    'backup',
    '--out',
    folder,
  )
  await checkBackupFile({ path: backupFile(), passphrase: undefined })
  rmSync(backupFile())
  expect((await tollgateJson(shop.env, 'backup', '--out', folder)).code).toBe(0)
})

const backupFile = () => join(folder, readdirSync(folder).find(file => !file.endsWith('.part')) ?? '')

test('a killed restore leaves a database without data, and is run again until it is whole', async () => {
  const target = await freshDatabase()
  const on = await startPostgresProxy(target.url)
  const moments: Moment[] = [
    { at: /create table users/, is: 'done' },
    { at: /^copy "transfers"/, is: 'unsent' },
    { at: /^commit$/, after: /^copy /, is: 'unsent' },
  ]
  for (const moment of moments) {
    await runKilled(on, moment, env(on.url), 'restore', backupFile())
    await leavesNothing(target.url)
    const [{ isMade }] = await query(target.url, `select to_regclass('merchants') is not null as "isMade"`)
    if (isMade) expect(await query(target.url, 'select from merchants')).toEqual([])
  }
  expect((await stateOf(target.url)).reason).toMatch(/did not finish: run it again/)
  expect((await tollgateJson(env(target.url), 'restore', backupFile())).code).toBe(0)
  expect(await contentOf(target.url)).toEqual(content)
  expect((await stateOf(target.url)).reason).toContain('It was restored from backup')
  await on.stop()
  await target.drop()
})

test('a restore that is killed after its commit is whole, and says so when it is run again', async () => {
  const target = await freshDatabase()
  const on = await startPostgresProxy(target.url)
  await runKilled(on, { at: /^commit$/, after: /^copy /, is: 'done' }, env(on.url), 'restore', backupFile())
  expect(await contentOf(target.url)).toEqual(content)
  const { code, error } = await tollgateJson(env(target.url), 'restore', backupFile())
  expect([code, error.message]).toEqual([
    1,
    expect.stringMatching(/restored into this database already.*tollgate adopt/),
  ])
  await on.stop()
  await target.drop()
})

test('of two moves at once one is done, and the other one says where the payments are', async () => {
  await query(shop.url, `update installation set state = 'original', moved_to = ''`)
  const targets = await Promise.all([freshDatabase(), freshDatabase()])
  const [first, second] = targets
  const one = launch(env(source.url), 'move', '--to', first.url, '--json')
  const isCopying = new Promise<void>(resolve => {
    source.onStatement = text => {
      if (!text.startsWith('copy "payments"')) return undefined
      one.child.kill('SIGSTOP')
      resolve()
      return undefined
    }
  })
  await isCopying
  const other = launch(env(shop.url), 'move', '--to', second.url, '--json')
  await waitsForLock(shop.url, 'lock table')
  one.child.kill('SIGCONT')
  expect(await one.ended).toMatchObject({ code: 0, stderr: '' })
  const { code, stderr } = await other.ended
  expect([code, JSON.parse(stderr).error.message]).toEqual([
    1,
    `This database has moved to ${addressOfUrl(first.url)} already.`,
  ])
  expect(await stateOf(first.url)).toEqual(original)
  expect(await query(second.url, `select to_regclass('payments') as payments`)).toEqual([{ payments: null }])
  for (const target of targets) await target.drop()
})
