import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appRoleStatements, asSuperuser } from '../../src/postgres/access.ts'
import { openDataFolder } from '../../src/postgres/dataFolder.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { query } from '../support/database/database.ts'
import { nobody, onlyRoot } from '../support/processes/otherUsers.ts'

const base = mkdtempSync(join(tmpdir(), 'tollgate-password-'))
const made = join(base, 'made') // copied by each test
beforeAll(async () => {
  const { url, stop } = await startEmbedded(made, 'command')
  await query(url, 'create table notes as select 1 as n')
  await stop()
}, 120_000)
afterAll(() => rmSync(base, { recursive: true, force: true }), 120_000)

const copyOf = (name: string) => {
  const folder = join(base, name)
  execFileSync('cp', ['-a', made, folder])
  return folder
}
const passwordFile = (data: string) => join(data, 'postgres.pgpass')

// The data is there, and the application may change it but is no superuser.
async function isWhole(data: string) {
  const { url, stop } = await startEmbedded(data, 'command')
  expect(await query(url, 'select n from notes')).toEqual([{ n: 1 }])
  await query(url, 'alter table notes add probe int; alter table notes drop probe')
  expect(await query(url, 'select rolsuper from pg_roles where rolname = current_user')).toEqual([
    { rolsuper: false },
  ])
  const asTheSuperuser = url.replace(/\/\/.*@/, '//tollgate@')
  await assert.rejects(query(asTheSuperuser, 'select 1'), /pg_hba.conf rejects connection/)
  await stop()
}

for (const [what, lose] of [
  ['lost', (file: string) => rmSync(file)],
  ['of another folder', (file: string) => writeFileSync(file, `*:*:*:tollgate_app:${'1'.repeat(64)}\n`)],
] as const)
  test(`a password that was ${what} is replaced`, async () => {
    const data = copyOf(what.replaceAll(' ', '-'))
    lose(passwordFile(data))
    await isWhole(data)
    await isWhole(data)
  })

test('a replacement that was interrupted after any of its statements is completed by the next start', async () => {
  for (let done = 0; done < appRoleStatements('0'.repeat(64)).length; done++) {
    const data = copyOf(`cut-${done}`)
    rmSync(passwordFile(data))
    const home = openDataFolder(data)
    await asSuperuser(home, undefined, appRoleStatements(home.password).slice(0, done))
    await isWhole(data)
  }
})

test('two starts that replace the password at once both get a connection', async () => {
  const data = copyOf('twice')
  rmSync(passwordFile(data))
  const both = await Promise.all([startEmbedded(data, 'command'), startEmbedded(data, 'command')])
  for (const { url } of both) expect(await query(url, 'select n from notes')).toEqual([{ n: 1 }])
  for (const one of both.sort((a, b) => Number(a.owner) - Number(b.owner))) await one.stop()
  await isWhole(data)
})

test('a password that is lost while a gateway runs: another start reports what to do, and the next one replaces it', async () => {
  const data = copyOf('running')
  const gateway = await startEmbedded(data, 'gateway')
  rmSync(passwordFile(data))
  await assert.rejects(startEmbedded(data, 'command'), {
    name: 'EmbeddedError',
    message: new RegExp(
      `^The database in the data folder ${data} is running \\(process \\d+\\), but not with the password in ` +
        'postgres\\.pgpass: stop the Tollgate that runs it, and start again\\.$',
    ),
  })
  await gateway.stop()
  await isWhole(data)
})

test('a data folder that belongs to another user stays with that user when root runs a command', async context => {
  onlyRoot(context)
  const data = copyOf('others')
  execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, data])
  rmSync(passwordFile(data))
  await (await startEmbedded(data, 'command')).stop()
  expect([statSync(join(data, 'postgres')).uid, statSync(passwordFile(data)).uid]).toEqual([
    nobody.uid,
    nobody.uid,
  ])
})
