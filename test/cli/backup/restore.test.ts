import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { sealAuditLog } from '../../../src/actions/access/auditSeal.ts'
import { checkBackupFile } from '../../../src/actions/backups/readBackup.ts'
import { BackupFault } from '../../../src/core/backup/fault.ts'
import { backupTables, createdTables } from '../../../src/store/backups/backupTables.ts'
import { lastBackup } from '../../../src/store/backups/backups.ts'
import { migrationNames } from '../../../src/store/migrate/migrationList.ts'
import { type FreshDatabase, freshDatabase, query } from '../../support/database/database.ts'
import { yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { launch, temporaryFolder, tollgate, tollgateJson } from '../tollgate.ts'

const folder = temporaryFolder()
const passphraseFile = join(folder, 'passphrase')
const passphrase = 'correct horse battery staple'
let shop: TestShop
let file: string
let encrypted: string
// What each of them has: a backup is recorded in the audit log after its snapshot.
const contents: Record<string, string[]> = {}
let target: FreshDatabase
beforeAll(async () => {
  shop = await openShop()
  const ama = await shop.addMerchant('Ama\'s "Shop" \\ Kumasi', 'description=a\\nb')
  for (let number = 0; number < 3; number++) await shop.try(await shop.ask(ama), yes)
  writeFileSync(passphraseFile, passphrase)
  file = await make()
  encrypted = await make('--passphrase-file', passphraseFile)
})
afterAll(() => shop.stop())
beforeEach(async () => void (target = await freshDatabase()))
afterEach(() => target.drop())

async function make(...options: string[]): Promise<string> {
  const content = await contentOf(shop.url)
  const { file: made } = (await tollgateJson(shop.env, 'backup', '--out', `${folder}/`, ...options)).data
  contents[made] = content
  return made
}
const env = (key = shop.env.TOLLGATE_MASTER_KEY) => ({ DATABASE_URL: target.url, TOLLGATE_MASTER_KEY: key })
const restore = (...args: string[]) => tollgateJson(env(), 'restore', ...args)

const contentOf = async (url: string) => {
  const digests = []
  for (const name of backupTables(migrationNames()).filter(table => !/^(backups|installation)$/.test(table)))
    digests.push(
      `${name} ${(await query(url, `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${name} t`)).map(row => `${row.count} ${row.md5}`)[0]}`,
    )
  return digests
}
const stateOf = async (url: string) => (await query(url, 'select state, reason from installation'))[0]

test('the tables of a backup are those of the schema, each after those that its foreign keys name', async () => {
  const tables = createdTables(migrationNames())
  const present = await query(
    shop.url,
    `select relname::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  expect([...tables, 'migrations'].toSorted()).toEqual(present.map(row => String(row.name)).toSorted())
  const keys = await query(
    shop.url,
    `select conrelid::regclass::text as of, confrelid::regclass::text as to from pg_constraint where contype = 'f'`,
  )
  expect(keys.filter(({ of, to }) => tables.indexOf(to) > tables.indexOf(of))).toEqual([])
})

for (const [what, of] of [
  ['a backup', () => [file]],
  ['an encrypted backup', () => [encrypted, '--passphrase-file', passphraseFile]],
] as const)
  test(`${what} is restored with every value, and the database is a copy`, async () => {
    const [from = '', ...options] = of()
    const { code, error, data } = await restore(from, ...options)
    expect([code, error]).toEqual([0, undefined])
    expect(data.missing_master_keys).toEqual([])
    expect(await contentOf(target.url)).toEqual(contents[from])
    expect(await stateOf(target.url)).toEqual({
      state: 'copy',
      reason: `It was restored from backup ${data.backup_id} of ${data.taken_at}.`,
    })
  })

test('the master keys that are missing are named', async () => {
  const { stdout } = await tollgate(env('ab'.repeat(32)), 'restore', file)
  expect(stdout).toMatch(/The master key [0-9a-f]{16} is not here: set TOLLGATE_MASTER_KEY/)
})

test('only an empty database is filled, and the cure is named', async () => {
  await restore(file)
  const again = await restore(file)
  expect(again.code).toBe(1)
  expect(again.error.message).toMatch(/was restored into this database already.*adopt.*createdb/)
  await query(target.url, `update installation set state = 'original', reason = ''`)
  const adopted = await restore(file)
  expect(adopted.code).toBe(1)
  expect(adopted.error.message).toMatch(/this one is not empty: its table \w+ has rows.*createdb/)
})

test('a database of another program is not filled', async () => {
  await query(target.url, 'create table notes (text text)')
  const { code, error } = await restore(file)
  expect([code, error.message]).toEqual([1, expect.stringContaining('it has a table notes')])
  expect(await query(target.url, `select to_regclass('payments') as payments`)).toEqual([{ payments: null }])
})

test('a backup with a changed row leaves a database without data that says so, and can be filled again', async () => {
  const archive = gunzipSync(readFileSync(file)).toString('latin1')
  const changed = join(folder, 'changed')
  writeFileSync(changed, gzipSync(Buffer.from(archive.replace('Kumasi', 'Kumasa'), 'latin1')))
  const { code, error } = await restore(changed)
  expect([code, error.message]).toEqual([1, expect.stringContaining('damaged')])
  expect(await stateOf(target.url)).toMatchObject({
    state: 'copy',
    reason: expect.stringContaining('did not finish'),
  })
  expect(await query(target.url, 'select count(*)::int from merchants')).toEqual([{ count: 0 }])
  expect((await restore(file)).code).toBe(0)
})

test('a changed bit anywhere is detected, or changes nothing', async () => {
  const bytes = readFileSync(file)
  const whole = await checkBackupFile({ path: file, passphrase: undefined })
  const changed = join(folder, 'flipped')
  let detected = 0
  for (let flip = 0; flip < 200; flip++) {
    const at = flip < 12 ? flip : randomInt(bytes.length) // the first bytes are the header of gzip
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] as number) ^ (1 << randomInt(8))
    writeFileSync(changed, copy)
    const found = await checkBackupFile({ path: changed, passphrase: undefined }).catch(
      (error: unknown) => error,
    )
    if (found instanceof BackupFault) detected++
    else expect(found).toEqual(whole)
  }
  expect(detected).toBeGreaterThan(180)
})

test('a changed bit of an encrypted backup is detected', async () => {
  const bytes = readFileSync(encrypted)
  const changed = join(folder, 'flipped.enc')
  for (const at of [0, 30, randomInt(bytes.length)]) {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] as number) ^ (1 << randomInt(8))
    writeFileSync(changed, copy)
    await expect(checkBackupFile({ path: changed, passphrase })).rejects.toThrow(BackupFault)
  }
})

test('a backup that was cut off anywhere is detected', async () => {
  const { length } = readFileSync(file)
  const cut = join(folder, 'cut')
  for (const left of [
    0,
    1,
    20,
    length - 1,
    length - 8,
    ...Array.from({ length: 20 }, () => randomInt(length)),
  ]) {
    writeFileSync(cut, readFileSync(file))
    truncateSync(cut, left)
    await expect(checkBackupFile({ path: cut, passphrase: undefined })).rejects.toThrow(BackupFault)
  }
})

test('verify restores into a scratch database, removes it, and records the day', async () => {
  const { code, data, error } = await tollgateJson(
    shop.env,
    'backup',
    'verify',
    file,
    '--scratch',
    target.url,
  )
  expect([code, error]).toEqual([0, undefined])
  expect(data).toMatchObject({ intact: true, faults: [], recorded: true })
  expect(
    await query(target.url, `select datname from pg_database where datname like 'tollgate_verify_%'`),
  ).toEqual([])
  const recorded = await query(shop.url, 'select from backups where verified_at is not null')
  expect([recorded.length, await lastBackup(shop.db)]).toMatchObject([1, {}])
})

test('backup --verify needs no other server', async () => {
  const { code, data } = await tollgateJson(shop.env, 'backup', '--out', `${folder}/`, '--verify')
  expect([code, data.intact]).toEqual([0, true])
  expect(await lastBackup(shop.db)).toMatchObject({
    backup_id: data.backup_id,
    verified_at: expect.any(Date),
  })
})

const oldBackup = 'tollgate-20260101T020000Z-aaaa.tar.gz'
const unverified = (day: string) => `tollgate-202601${day}T020000Z-aaaa.tar.gz.unverified`

test('a backup that cannot be verified is not recorded, replaces no other one, and does not fill the disk', async () => {
  const own = temporaryFolder()
  for (const name of [oldBackup, unverified('02'), unverified('03')]) writeFileSync(join(own, name), '')
  const yesterday = new Date(Date.now() - 86_400_000)
  utimesSync(join(own, unverified('02')), yesterday, yesterday)
  const before = await lastBackup(shop.db)
  const noRoom = { ...shop.env, TMPDIR: join(own, 'no', 'room') }
  const { ended } = launch(noRoom, 'backup', '--out', `${own}/`, '--verify', '--keep', '1')
  const { code, stderr } = await ended
  expect([code, await lastBackup(shop.db)]).toEqual([1, before])
  const left = readdirSync(own).toSorted()
  expect(left).toEqual([oldBackup, unverified('03'), expect.stringMatching(/\.tar\.gz\.unverified$/)])
  expect(stderr).toContain(`${join(own, left[2] as string)} was not verified`)
  expect((await tollgate({}, 'backup', 'show', join(own, left[2] as string))).code).toBe(0)
})

test('a backup whose data does not fit is not recorded as verified, and replaces no other one', async () => {
  const other = await openShop()
  try {
    await other.addMerchant('Ama Shop')
    const { data: fits } = await tollgateJson(other.env, 'backup', '--out', `${folder}/`, '--verify')
    await sealAuditLog(other.db, new Date(Date.now() + 3 * 3_600_000))
    await query(
      other.url,
      `alter table audit_entries disable trigger audit_entries_append_only;
       update audit_entries set actor_id = 'nobody';
       alter table audit_entries enable trigger audit_entries_append_only`,
    )
    const own = temporaryFolder()
    writeFileSync(join(own, oldBackup), '')
    const made = await tollgateJson(other.env, 'backup', '--out', `${own}/`, '--verify', '--keep', '1')
    expect([made.code, made.data.intact]).toEqual([1, false])
    expect(readdirSync(own).toSorted()).toEqual([oldBackup, made.data.file.slice(own.length + 1)])
    expect(made.data.file).toMatch(/\.unverified$/)
    expect(await lastBackup(other.db)).toMatchObject({ backup_id: fits.backup_id })

    const plain = await tollgateJson(other.env, 'backup', '--out', `${own}/`)
    const verified = await tollgateJson(other.env, 'backup', 'verify', plain.data.file)
    expect([verified.code, verified.data.recorded]).toEqual([1, false])
    expect(await lastBackup(other.db)).toMatchObject({
      backup_id: plain.data.backup_id,
      verified_at: null,
    })
  } finally {
    await other.stop()
  }
})

test('a file that exists is not replaced by a verified backup', async () => {
  const path = join(temporaryFolder(), 'there')
  writeFileSync(path, 'kept')
  const { code, error } = await tollgateJson(shop.env, 'backup', '--out', path, '--verify')
  expect([code, error.message]).toEqual([1, `There is a file ${path} already: name another, or remove it.`])
  expect(readFileSync(path, 'utf8')).toBe('kept')
})
