import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { openDataFolder } from '../../src/postgres/folder/dataFolder.ts'
import { asSuperuser, theApplicationsRole } from '../../src/postgres/keeper.ts'
import { openDb } from '../../src/store/db.ts'
import { query } from '../support/database.ts'
import { makeFormerData, startFormer } from '../support/formerData.ts'
import { testGateway } from '../support/gateway.ts'
import { post, signedRequest } from '../support/merchant.ts'
import { isRoot, nobody, onlyRoot } from '../support/stranger.ts'

const base = mkdtempSync(join(tmpdir(), 'tollgate-takeover-'))
const former = join(base, 'former') // never started itself
let payments: unknown[]
beforeAll(async () => {
  await makeFormerData(former, async url => {
    const gateway = await testGateway({ DATABASE_URL: url })
    const db = openDb(url, 2)
    const { test: shop } = await onboard(db, gateway.masterKeys, 'Ama Shop', ['test'], new Date())
    for (let n = 0; n < 5; n++) await post(gateway.url, signedRequest(shop as Credentials))
    await db.end()
    await gateway.stop()
    await query(url, thingsOfTheOperator)
    payments = await query(url, everyPayment)
  })
  expect(payments).toHaveLength(5)
}, 120_000)
afterAll(() => rmSync(base, { recursive: true, force: true }), 120_000)

const everyPayment = 'select * from payments order by tx_reference'
const thingsOfTheOperator = `
  create schema mine;
  create type mine.mood as enum ('good', 'bad');
  create domain mine.short as text check (length(value) < 9);
  create table mine.notes (n int generated always as identity, m serial, mood mine.mood, words mine.short);
  create table mine.parts (n int) partition by range (n);
  create table mine.part partition of mine.parts for values from (0) to (9);
  create view mine.paid as select * from payments where status = 'paid';
  create materialized view mine.counted as select count(*) from payments;
  create sequence mine.steps;
  create function mine.twice(n int) returns int language sql as 'select n * 2';
  create procedure mine.nothing() language sql as '';
  create extension pg_trgm`

const copyOf = (name: string) => {
  const folder = join(base, name)
  execFileSync('cp', ['-a', former, folder])
  return folder
}

// Everything is there, the application can go on with it and is nobody special, and the files have their user.
async function isWhole(dataDir: string) {
  const { url, stop } = await startEmbedded(dataDir, 'command')
  expect(await query(url, everyPayment)).toEqual(payments)
  expect(await query(url, leftWithTheSuperuser)).toEqual([])
  await query(url, 'alter table payments add probe int; alter table payments drop probe')
  await query(url, 'create index concurrently probe on payments (status)')
  await query(url, 'drop index probe')
  await query(
    url,
    `insert into mine.notes (mood, words) values ('good', 'yes'); comment on table mine.part is 'ours'`,
  )
  expect(await query(url, 'select rolsuper from pg_roles where rolname = current_user')).toEqual([
    { rolsuper: false },
  ])
  await assert.rejects(query(formerUrl(url), 'select 1'), /pg_hba.conf rejects connection/)
  await stop()
  const files = readdirSync(join(dataDir, 'postgres'), { recursive: true, encoding: 'utf8' })
  const owners = files.map(file => lstatSync(join(dataDir, 'postgres', file)).uid)
  const uid = isRoot ? 65_528 : process.getuid?.()
  expect([...new Set(owners), statSync(join(dataDir, 'postgres')).uid]).toEqual([uid, uid])
}

const formerUrl = (url: string) => url.replace(/\/\/.*@/, '//tollgate@')

const leftWithTheSuperuser = `
  select oid::regclass::text as name from pg_class
    where relowner = 'tollgate'::regrole and relnamespace in ('public'::regnamespace, 'mine'::regnamespace)
      and relkind <> 'i' and oid not in (select objid from pg_depend where deptype = 'e')
  union all
  select oid::regprocedure::text from pg_proc
    where proowner = 'tollgate'::regrole and pronamespace in ('public'::regnamespace, 'mine'::regnamespace)
      and oid not in (select objid from pg_depend where deptype = 'e')
  union all
  select oid::regtype::text from pg_type where typowner = 'tollgate'::regrole and typnamespace = 'mine'::regnamespace
  union all
  select datname from pg_database where datname = 'tollgate' and datdba = 'tollgate'::regrole`

test('a data folder of the first version is taken over, with every payment', async () => {
  const data = copyOf('plain')
  await isWhole(data)
  await isWhole(data)
})

test('a take-over that was cut off after any of its statements is completed by the next start', async () => {
  const steps = theApplicationsRole('0'.repeat(64)).length
  for (let done = 0; done < steps; done += 2) {
    const data = copyOf(`cut-${done}`)
    const home = { ...openDataFolder(data), runAs: isRoot ? nobody : undefined }
    await asSuperuser(home, undefined, theApplicationsRole(home.password).slice(0, done))
    await isWhole(data)
    rmSync(data, { recursive: true })
  }
})

const rules = (data: string) => readFileSync(join(data, 'postgres', 'pg_hba.conf'), 'utf8')
const note = (data: string) => join(data, 'postgres', 'postmaster.pid')

test('one that was killed is completed by the next start, whenever it was', async () => {
  const moments: [string, (data: string) => boolean][] = [
    ['there is a password', data => existsSync(join(data, 'postgres.pgpass'))],
    ['the folder has its user', data => !isRoot || statSync(join(data, 'postgres')).uid !== nobody.uid],
    ['the superuser has rules of his own', data => existsSync(join(data, 'postgres', 'keeper_hba.conf'))],
    ['a server runs', data => existsSync(note(data)) && /\nready/.test(readFileSync(note(data), 'utf8'))],
    ['the rules are new', data => rules(data).startsWith('# Written by Tollgate')],
  ]
  for (const [moment, isSo] of moments) {
    const data = copyOf(`killed when ${moment}`)
    const child = spawn(process.execPath, ['--input-type=module', '-e', takingOver, data], {
      stdio: 'inherit',
    })
    while (!isSo(data)) {
      assert.equal(child.exitCode, null, moment)
      await sleep(1)
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
    await isWhole(data)
    rmSync(data, { recursive: true })
  }
}, 180_000)

const takingOver = `
  import { build } from './build.js'
  await build()
  const { startEmbedded } = await import('./dist/postgres/embedded.js')
  await startEmbedded(process.argv[1], 'gateway')
  setInterval(() => {}, 1000)`

test('two that take over at once both get there', async () => {
  const data = copyOf('twice')
  const both = await Promise.all([startEmbedded(data, 'command'), startEmbedded(data, 'command')])
  for (const { url } of both) expect(await query(url, everyPayment)).toEqual(payments)
  for (const one of both.sort((a, b) => Number(a.owner) - Number(b.owner))) await one.stop()
  await isWhole(data)
})

test('beside a running gateway of a former version a command and a gateway are told to wait for its end', async () => {
  const data = copyOf('running')
  const server = await startFormer(data)
  const sign = new Client({
    connectionString: server.url,
    application_name: `tollgate gateway ${process.pid}`,
  })
  await sign.connect()
  for (const role of ['command', 'gateway'] as const)
    await assert.rejects(startEmbedded(data, role), {
      name: 'EmbeddedError',
      message: new RegExp(
        `^The database in the data folder ${data} is being run \\(by process ${process.pid}\\) in the way of a former ` +
          'version of Tollgate, .*: stop that Tollgate, then this one takes the folder over\\.$',
      ),
    })
  if (isRoot) expect(statSync(join(data, 'postgres')).uid).toBe(nobody.uid)
  await sign.end()
  await server.stop()
  await isWhole(data)
})

test('a password that was lost, or of another folder, is replaced', async () => {
  const data = join(base, 'lost')
  const first = await startEmbedded(data, 'command')
  await query(first.url, 'create table notes as select 1 as n')
  await first.stop()
  for (const lose of [
    (file: string) => rmSync(file),
    (file: string) => writeFileSync(file, `*:*:*:tollgate_app:${'1'.repeat(64)}\n`),
  ]) {
    lose(join(data, 'postgres.pgpass'))
    const next = await startEmbedded(data, 'command')
    expect(await query(next.url, 'select n from notes')).toEqual([{ n: 1 }])
    expect(next.url).not.toBe(first.url)
    await next.stop()
  }
})

test('files that nobody has put into the place of those of PostgreSQL do not change hands', async context => {
  onlyRoot(context)
  const data = copyOf('linked')
  const mine = join(base, 'mine')
  writeFileSync(mine, 'root alone')
  for (const plant of [symlinkSync, linkSync]) {
    const planted = join(data, 'postgres', 'base', 'planted')
    plant(mine, planted)
    await assert.rejects(startEmbedded(data, 'command'), {
      name: 'EmbeddedError',
      message: new RegExp(`but ${planted} is none that PostgreSQL made .*: move it away and start again\\.$`),
    })
    expect(statSync(mine).uid).toBe(0)
    expect(statSync(join(data, 'postgres')).uid).toBe(nobody.uid)
    rmSync(planted)
  }
  await isWhole(data)
})

test('what belongs to nobody altogether stays with nobody', async context => {
  onlyRoot(context)
  const data = copyOf('nobodys')
  execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, data])
  await (await startEmbedded(data, 'command')).stop()
  expect(statSync(join(data, 'postgres')).uid).toBe(nobody.uid)
  expect(statSync(join(data, 'postgres.pgpass')).uid).toBe(nobody.uid)
})
