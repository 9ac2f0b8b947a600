import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastBackup } from '../../../src/store/backups/backups.ts'
import { query } from '../../support/database/database.ts'
import { yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { temporaryFolder, tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
const folder = temporaryFolder()
const passphraseFile = join(folder, 'passphrase')
const encrypting = ['--passphrase-file', passphraseFile]
beforeAll(async () => {
  shop = await openShop()
  const ama = await shop.addMerchant('Ama "Ships" \\ Shop')
  const payment = await shop.ask(ama, { description: 'a\\b' })
  await shop.try(payment, yes)
  writeFileSync(passphraseFile, 'correct horse battery staple\n')
})
afterAll(() => shop.stop())

const make = async (...options: string[]) => {
  const { code, data, error } = await tollgateJson(shop.env, 'backup', '--out', `${folder}/`, ...options)
  expect(error).toBeUndefined()
  expect(code).toBe(0)
  return data as { file: string; backup_id: string; tables: { name: string; rows: number }[] }
}

test('a backup is one file that only its owner can read, is recorded, and has all rows of all tables', async () => {
  const { file, backup_id, tables } = await make()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder).filter(name => name.includes('part'))).toEqual([])
  expect(await lastBackup(shop.db)).toMatchObject({
    backup_id,
    payments: 1n,
    is_encrypted: false,
    verified_at: null,
  })
  for (const { name, rows } of tables.filter(table => !['backups', 'audit_entries'].includes(table.name)))
    expect(`${name} ${rows}`).toBe(
      `${name} ${(await query(shop.url, `select count(*) from ${name}`))[0].count}`,
    )
})

test('a backup is in the audit log', async () => {
  const { backup_id } = await make()
  const [entry] = await query(
    shop.url,
    `select action, subject, actor_kind, after from audit_entries order by entry_id desc limit 1`,
  )
  expect(entry).toMatchObject({
    action: 'backup.create',
    subject: backup_id,
    actor_kind: 'command',
    after: { payments: 1, is_encrypted: false },
  })
})

test('an unencrypted backup is a tar archive, whose files psql can copy', async () => {
  const { file } = await make()
  const extracted = temporaryFolder()
  execFileSync('tar', ['xzf', file, '-C', extracted])
  expect(readFileSync(join(extracted, 'tables/payments/000001.copy'), 'utf8')).toContain('\ta\\\\b\t')
})

test('show reads an encrypted backup with its passphrase only', async () => {
  const { file } = await make(...encrypting)
  expect(readFileSync(file, 'latin1')).not.toContain('Ama')
  expect((await tollgate({}, 'backup', 'show', file, ...encrypting)).stdout).toContain('1 payments')
  expect((await tollgateJson({}, 'backup', 'show', file)).error.message).toContain('give --passphrase-file')
  const wrong = join(folder, 'wrong')
  writeFileSync(wrong, 'another passphrase')
  const { code, error } = await tollgateJson({}, 'backup', 'show', file, '--passphrase-file', wrong)
  expect([code, error.message]).toEqual([
    1,
    expect.stringContaining('The passphrase is not the one of this backup'),
  ])
})

test('a file that exists is not replaced, and a folder that cannot be written is named', async () => {
  const path = join(folder, 'there')
  writeFileSync(path, 'kept')
  const { code, error } = await tollgateJson(shop.env, 'backup', '--out', path)
  expect([code, error.message]).toEqual([1, `There is a file ${path} already: name another, or remove it.`])
  expect(readFileSync(path, 'utf8')).toBe('kept')
  const missing = await tollgateJson(shop.env, 'backup', '--out', join(folder, 'no', 'where'))
  expect([missing.code, missing.error.message]).toEqual([1, expect.stringContaining('no such folder')])
})

test('a folder is no backup', async () => {
  const { code, error } = await tollgateJson({}, 'backup', 'show', folder)
  expect([code, error.message]).toEqual([1, `${folder} is a folder: name a file in it.`])
})

test('a passphrase that is too short is refused', async () => {
  const short = join(folder, 'short')
  writeFileSync(short, 'abc\n')
  chmodSync(short, 0o600)
  const { code, error } = await tollgateJson(shop.env, 'backup', '--passphrase-file', short)
  expect([code, error.message]).toEqual([1, expect.stringContaining('at least 12 characters')])
})

const keep = (out: string) => tollgateJson(shop.env, 'backup', '--out', out, '--keep', '2')

const draft = (second: number) =>
  `tollgate-20260102T02000${second}Z-aaaa.tar.gz.20260102T02000${second}Z-aaaa.part`

test('--keep removes all but the newest backups of the folder and abandoned drafts, and no other file', async () => {
  const own = temporaryFolder()
  writeFileSync(join(own, 'notes'), '')
  for (const name of ['tollgate-20260101T020000Z-aaaa.tar.gz', 'tollgate-20260102T020000Z-aaaa.tar.gz.enc'])
    writeFileSync(join(own, name), '')
  for (const second of [1, 2]) writeFileSync(join(own, draft(second)), '')
  const yesterday = new Date(Date.now() - 86_400_000)
  utimesSync(join(own, draft(1)), yesterday, yesterday) // of a backup that was killed
  const { data } = await keep(own)
  expect(data.removed).toEqual([join(own, 'tollgate-20260101T020000Z-aaaa.tar.gz'), join(own, draft(1))])
  expect(readdirSync(own).toSorted()).toEqual([
    'notes',
    'tollgate-20260102T020000Z-aaaa.tar.gz.enc',
    draft(2),
    data.file.slice(own.length + 1),
  ])
  expect((await keep(join(own, 'one.tar.gz'))).error.message).toContain('--keep needs a folder')
})
