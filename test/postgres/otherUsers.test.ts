import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test, vi } from 'vitest'
import { type Embedded, startEmbedded } from '../../src/postgres/embedded.ts'
import { mark, privateUser } from '../../src/postgres/user.ts'
import { query } from '../support/database/database.ts'
import { as, isRoot, onlyRoot, others, unknownUser } from '../support/processes/otherUsers.ts'

vi.setConfig({ testTimeout: 120_000 }) // it starts servers

// As open as a folder below /srv may be: Tollgate itself must keep other users out.
const base = mkdtempSync(join(tmpdir(), 'tollgate-strangers-'))
chmodSync(base, 0o755)
const data = join(base, 'data')
let gateway: Embedded
beforeAll(async () => {
  gateway = await startEmbedded(data, 'gateway')
})
afterAll(async () => {
  await gateway.stop()
  rmSync(base, { recursive: true, force: true })
})

const sockets = () => decodeURIComponent(/host=([^&]+)/.exec(gateway.url)?.[1] ?? '')
const postmaster = () => readFileSync(join(data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0] ?? ''

test('another user of the machine cannot reach the socket', async context => {
  onlyRoot(context)
  for (const user of others)
    for (const role of ['tollgate', 'tollgate_app', 'postgres'])
      assert.equal(
        await as(user, 'return meet(...args)', sockets(), role),
        'EACCES',
        `${user.uid} as ${role}`,
      )
})

test('a connection to the socket needs the password, and is never superuser', async () => {
  const us = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const greet = (role: string) => as(us, 'return meet(...args)', sockets(), role)
  assert.equal(await greet('tollgate_app'), 'asked for a password')
  assert.equal(await greet('postgres'), 'asked for a password') // there is none: nothing is learnt from the answer
  assert.equal(await greet('tollgate'), 'turned away')
  const wrong = gateway.url.replace(/:[0-9a-f]{64}@/, `:${'0'.repeat(64)}@`)
  assert.notEqual(wrong, gateway.url)
  await assert.rejects(query(wrong, 'select 1'), /password authentication failed/)
})

test('another user can read neither the files nor the password, nor trace the server', async context => {
  onlyRoot(context)
  const paths = [
    ...['', 'postgres', 'postgres/PG_VERSION', 'postgres/pg_hba.conf'].map(name => join(data, name)),
    ...['postgres.pgpass', 'postgres.log'].map(name => join(data, name)),
    ...['cwd/PG_VERSION', 'environ', 'fd', 'mem'].map(name => `/proc/${postmaster()}/${name}`),
    sockets(),
  ]
  const look = `return args.map(path => attempt(() => (fs.statSync(path), fs.openSync(path, 'r'), 'read')))`
  for (const user of others)
    for (const found of (await as(user, look, ...paths)) as string[])
      assert.match(found, /^(EACCES|EPERM)$/, `as ${user.uid}`)
})

test('another user cannot stop the server', async context => {
  onlyRoot(context)
  for (const user of others)
    assert.equal(
      await as(user, `return attempt(() => process.kill(args[0], 'SIGINT'))`, postmaster()),
      'EPERM',
    )
})

test('the server runs as a user without a name that runs nothing else', async context => {
  onlyRoot(context)
  const { uid } = statSync(join(data, 'postgres'))
  assert.equal(statSync(`/proc/${postmaster()}`).uid, uid)
  assert.equal(readFileSync('/etc/passwd', 'utf8').includes(`:${uid}:`), false)
  assert.ok(uid !== 0 && !others.some(user => user.uid === uid))
})

test('only the owner of the data folder can read the password', () => {
  const file = statSync(join(data, 'postgres.pgpass'))
  assert.equal(file.mode & 0o777, 0o600)
  assert.equal(file.uid, statSync(data).uid)
  assert.ok(
    gateway.url.includes(readFileSync(join(data, 'postgres.pgpass'), 'utf8').trim().split(':')[4] ?? '?'),
  )
})

test('the application owns its database and has no other privilege', async () => {
  const [role] = await query(
    gateway.url,
    `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
       pg_has_role(current_user, 'pg_execute_server_program', 'member') as runs_programs,
       pg_has_role(current_user, 'pg_read_server_files', 'member') as reads_files
     from pg_roles where rolname = current_user`,
  )
  assert.deepEqual([...new Set(Object.values(role))], [false])
  for (const forbidden of [
    `copy (select 1) to program 'true'`,
    `select pg_read_file('PG_VERSION')`,
    `alter role tollgate password 'mine'`,
    'set role tollgate',
    'create role mine superuser',
    'create database mine',
    `alter system set archive_command = 'true'`,
  ])
    await assert.rejects(query(gateway.url, forbidden), { code: '42501' }, forbidden)
  await query(gateway.url, 'create table notes (n int); create schema more')
  await query(gateway.url, 'create index concurrently on notes (n)')
  await query(gateway.url, 'drop table notes; drop schema more')
})

test('no database is created in a data folder of another user', async context => {
  onlyRoot(context)
  const folder = join(base, 'theirs')
  mkdirSync(folder)
  chownSync(folder, unknownUser.uid, unknownUser.gid)
  await assert.rejects(startEmbedded(folder, 'command'), {
    name: 'EmbeddedError',
    message:
      `${folder} belongs to user ${unknownUser.uid}, who could change what is in it: ` +
      'give it to the user who runs Tollgate, or choose another TOLLGATE_DATA_DIR.',
  })
  assert.equal(existsSync(join(folder, 'postgres.pgpass')), false)
})

test('files of another user in the data folder are not used', async context => {
  onlyRoot(context)
  const folder = join(base, 'open')
  mkdirSync(folder)
  for (const [name, plant] of [
    ['postgres', (path: string) => mkdirSync(path)],
    ['postgres.pgpass', (path: string) => writeFileSync(path, `*:*:*:tollgate_app:${'0'.repeat(64)}\n`)],
  ] as const) {
    chmodSync(folder, 0o777)
    const path = join(folder, name)
    plant(path)
    chownSync(path, unknownUser.uid, unknownUser.gid)
    await assert.rejects(startEmbedded(folder, 'command'), {
      message: new RegExp(`^Others may write to .*, and ${name} in it was put there by one of them: `),
    })
    chmodSync(folder, 0o755) // too late
    if (name === 'postgres.pgpass')
      await assert.rejects(startEmbedded(folder, 'command'), { message: /put there by another user/ })
    rmSync(path, { recursive: true })
  }
  const elsewhere = join(base, 'elsewhere')
  writeFileSync(elsewhere, `*:*:*:tollgate_app:${'0'.repeat(64)}\n`)
  symlinkSync(elsewhere, join(folder, 'postgres.pgpass'))
  await assert.rejects(startEmbedded(folder, 'command'), { message: /put there by another user/ })
})

test('a data folder that others could write to is closed to them', async () => {
  const folder = join(base, 'wide')
  mkdirSync(folder)
  chmodSync(folder, 0o777)
  const command = await startEmbedded(folder, 'command')
  assert.equal(statSync(folder).mode & 0o777, 0o755)
  await command.stop()
  if (isRoot) assert.notEqual(statSync(join(folder, 'postgres')).uid, 0)
})

const sleeper = (env: Record<string, string>) =>
  spawn('/bin/sleep', ['60'], { uid: 47_111, gid: 47_111, env, stdio: 'ignore' })

test('a user id that another program uses is skipped; processes of Tollgate do not count', async context => {
  onlyRoot(context)
  const numbers = [47_111, 47_112] // other than those that tests beside this one choose from
  const chosen = () => privateUser(numbers).uid
  const ours = sleeper(mark)
  await once(ours, 'spawn')
  assert.equal(chosen(), 47_111)
  const theirs = sleeper({})
  await once(theirs, 'spawn')
  assert.equal(chosen(), 47_112)
  for (const child of [ours, theirs]) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  assert.equal(chosen(), 47_111)
  assert.throws(
    () => privateUser([0, 1]),
    /are all in use on this machine: start Tollgate as an ordinary user/,
  )
})
