import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, test } from 'vitest'
import { type Embedded, type Role, startEmbedded } from '../../src/postgres/embedded.ts'
import { EmbeddedError } from '../../src/postgres/error.ts'
import { isGatewayGroup } from '../../src/postgres/user.ts'
import { freshDatabase, query } from '../support/database/database.ts'

const isRoot = process.getuid?.() === 0
const base = mkdtempSync(join(tmpdir(), 'tollgate-embedded-')) // 0700, like a home folder
const shared = join(base, 'shared') // for tests that do not care whether the data is new
const started: Embedded[] = []
const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  // Guests first: a server waits for them.
  for (const embedded of started.splice(0).sort((a, b) => Number(a.owner) - Number(b.owner)))
    await embedded.stop()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

const start = async (dataDir: string, role: Role) => {
  const embedded = await startEmbedded(dataDir, role)
  started.push(embedded)
  return embedded
}

// A Tollgate in a separate process, which can be killed. `after` runs once it has a database.
async function startApart(dataDir: string, role: Role, after = 'setInterval(() => {}, 1000)') {
  const script = `
    import { build } from './build.js'
    await build()
    const { startEmbedded } = await import('./dist/postgres/embedded.js')
    const embedded = await startEmbedded(process.argv[1], process.argv[2])
    console.log(embedded.url)
    ${after}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir, role], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const url = once(child.stdout, 'data').then(([line]) => String(line).trim())
  return { child, url }
}

const noteOf = (dataDir: string) => join(dataDir, 'postgres', 'postmaster.pid')
const postmasterOf = (dataDir: string) => Number(readFileSync(noteOf(dataDir), 'utf8').split('\n')[0])

const isRunning = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(statusOf(pid))
const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8')

async function until(what: string, isSo: () => boolean, withinMs = 5000) {
  const deadline = performance.now() + withinMs
  while (!isSo()) {
    assert.ok(performance.now() < deadline, `not within ${withinMs} ms: ${what}`)
    await sleep(5)
  }
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail('should have been refused'),
    (error: unknown) => {
      assert.ok(error instanceof EmbeddedError, String(error))
      return error.message
    },
  )

test('a second start finds what the first one wrote', async () => {
  const data = join(base, 'new', 'below', 'new')
  const first = await start(data, 'gateway')
  await query(first.url, 'create table notes (text text)')
  await query(first.url, `insert into notes values ('kept')`)
  await first.stop()
  const second = await start(data, 'gateway')
  assert.deepEqual(await query(second.url, 'select text from notes'), [{ text: 'kept' }])
})

test('listens on a private socket only, and writes to the disk before it confirms a commit', async () => {
  const { url } = await start(shared, 'gateway')
  const settings = await query(
    url,
    `select name, setting from pg_settings
     where name in ('listen_addresses', 'fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum') order by 1`,
  )
  assert.deepEqual(
    settings.map(row => `${row.name}=${row.setting}`),
    ['autovacuum=on', 'fsync=on', 'full_page_writes=on', 'listen_addresses=', 'synchronous_commit=on'],
  )
  const { mode, gid } = statSync(socketsOf(url))
  assert.equal(mode & 0o777, isRoot ? 0o710 : 0o700)
  assert.equal(isGatewayGroup(gid), isRoot) // of root's gateways, and of nobody else
})

const socketsOf = (url: string) => decodeURIComponent(/host=([^&]+)/.exec(url)?.[1] ?? '')

test('statements and values stay out of the log', async () => {
  const { url } = await start(shared, 'gateway')
  await assert.rejects(query(url, 'select $1::int /* hidden statement */', ['hidden value']))
  await assert.rejects(query(url, 'create table t (hidden_row text unique); insert into t values (1),(1)'))
  assert.doesNotMatch(readFileSync(join(shared, 'postgres.log'), 'utf8'), /hidden/)
})

test('no server outlives a killed Tollgate, and what was committed is there after it', async () => {
  const data = join(base, 'killed')
  const { child, url } = await startApart(data, 'gateway')
  await query(await url, 'create table notes as select generate_series(1, 1000) as n')
  const postmaster = postmasterOf(data)
  child.kill('SIGKILL')
  await until('the server is gone', () => !isRunning(postmaster))
  await url.then(text => until('its socket folder is gone', () => !existsSync(socketsOf(text))))
  const next = await start(data, 'gateway')
  assert.deepEqual(await query(next.url, 'select count(*)::int as n from notes'), [{ n: 1000 }])
})

test('a gateway that starts right after a killed one waits until its server has ended', async () => {
  const { child, url } = await startApart(shared, 'gateway')
  await url
  child.kill('SIGKILL')
  await once(child, 'exit') // until then it is another running one
  assert.equal((await start(shared, 'gateway')).owner, true)
})

test('a second gateway on the same data is refused', async () => {
  await start(shared, 'gateway')
  assert.equal(
    await refusal(start(shared, 'gateway')),
    `Another Tollgate (process ${process.pid}) is already running on the data folder ${shared}. ` +
      'Stop it first, or choose another TOLLGATE_DATA_DIR.',
  )
})

test('of two gateways that start at once on a new folder, one runs and one is refused', async () => {
  const data = join(base, 'twice')
  const both = await Promise.allSettled([start(data, 'gateway'), start(data, 'gateway')])
  assert.deepEqual(both.map(one => one.status).sort(), ['fulfilled', 'rejected'])
})

test('a command beside a gateway is a guest', async () => {
  const gateway = await start(shared, 'gateway')
  const command = await start(shared, 'command')
  assert.equal(command.owner, false)
  assert.equal(command.url, gateway.url)
  await command.stop()
  assert.deepEqual(await query(gateway.url, 'select 1 as one'), [{ one: 1 }])
})

test('a command alone owns the data, and leaves nothing running', async () => {
  const command = await start(shared, 'command')
  assert.equal(command.owner, true)
  const postmaster = postmasterOf(shared)
  await command.stop()
  assert.equal(isRunning(postmaster), false)
  assert.equal(existsSync(socketsOf(command.url)), false)
})

test('a command that forgets to stop its server can end, and the server ends with it', async () => {
  const { child, url } = await startApart(shared, 'command', '')
  await url
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  await until('the server is gone', () => !existsSync(noteOf(shared)))
})

test('two commands at once on a new folder both work, and the owner waits for its guest', async () => {
  const both = await Promise.all([1, 2].map(() => start(join(base, 'both'), 'command')))
  const guest = both.find(one => !one.owner)
  const owner = both.find(one => one.owner)
  assert.ok(guest && owner)
  const stopped = owner.stop()
  for (let n = 0; n < 10; n++) {
    assert.deepEqual(await query(guest.url, 'select 1 as one'), [{ one: 1 }]) // each on a new connection
    await sleep(20)
  }
  await guest.stop()
  await stopped
})

test('a gateway waits for a command that has the data, and then takes over', async () => {
  const command = await start(shared, 'command')
  const gateway = start(shared, 'gateway')
  await sleep(500)
  await command.stop()
  assert.equal((await gateway).owner, true)
})

test('the start after an interrupted first start completes it', async () => {
  const data = join(base, 'interrupted')
  const drafts = () =>
    existsSync(data) ? readdirSync(data).filter(name => name.startsWith('postgres.new')) : []
  const { child } = await startApart(data, 'gateway')
  await until(
    'files are being made',
    () => drafts().some(name => existsSync(join(data, name, 'postgres', 'global'))),
    20_000,
  )
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(existsSync(join(data, 'postgres')), false)
  await (await start(data, 'gateway')).stop()
  await start(data, 'gateway')
  assert.deepEqual(drafts(), [])
})

test('a stale postmaster.pid with the process id of another program is ignored', async () => {
  const owner = statSync(join(shared, 'postgres'))
  const stranger = spawn('sleep', ['60'], isRoot ? { uid: owner.uid, gid: owner.gid } : {})
  children.push(stranger)
  await once(stranger, 'spawn')
  const note = [
    stranger.pid,
    '/proc/self/cwd',
    1_700_000_000,
    5432,
    '/tmp/tollgate-gone',
    '',
    '1 1',
    'ready   ',
    '',
  ]
  writeFileSync(noteOf(shared), note.join('\n'))
  chownSync(noteOf(shared), owner.uid, owner.gid)
  assert.equal((await start(shared, 'gateway')).owner, true)
})

test('onExit is called when the server dies; the next start waits until no session writes to the data', async () => {
  const gateway = await start(shared, 'gateway')
  const told = new Promise<string>(tell => gateway.onExit(tell))
  const last = query(gateway.url, 'select count(*)::int as n from generate_series(1, 5000000)').catch(String)
  await sleep(200) // a session at work does not see that its server has died
  process.kill(postmasterOf(shared), 'SIGKILL')
  assert.match(await told, /^PostgreSQL ended by itself \(signal SIGKILL\): /)
  const next = await start(shared, 'gateway')
  await last
  await gateway.stop()
  assert.deepEqual(await query(next.url, 'select 1 as one'), [{ one: 1 }])
})

test('a data folder below a folder that only root may enter works', async context => {
  if (!isRoot) context.skip('SKIPPED: only root can run this')
  const home = join(base, 'root')
  mkdirSync(home, { mode: 0o700 })
  const { url } = await start(join(home, 'data'), 'gateway')
  assert.equal(statSync(join(home, 'data', 'postgres')).uid, 65_528)
  assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
})

test('a data folder with a long path, a space and a quote works', async () => {
  const { url } = await start(join(base, 'a'.repeat(120), "it's here"), 'gateway')
  assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
})

test('each reason why it cannot start is one sentence', async () => {
  const file = join(base, 'file')
  writeFileSync(file, '')
  assert.match(
    await refusal(start(file, 'command')),
    /file is not a folder: move it away, or choose another /,
  )

  const version = join(base, 'version', 'postgres')
  mkdirSync(version, { recursive: true })
  writeFileSync(join(version, 'PG_VERSION'), '9\n')
  const owner = isRoot
    ? /belong to root, .* chown -R 65528:65528/
    : /made by PostgreSQL 9 but this Tollgate includes /
  assert.match(await refusal(start(join(base, 'version'), 'command')), owner)

  const broken = join(base, 'broken')
  await (await start(broken, 'command')).stop()
  rmSync(join(broken, 'postgres', 'global', 'pg_control'))
  assert.match(
    await refusal(start(broken, 'command')),
    /^PostgreSQL could not start in .*broken: .*pg_control/,
  )
  rmSync(join(broken, 'postgres', 'PG_VERSION'))
  assert.match(await refusal(start(broken, 'command')), /holds no PostgreSQL database: move it away/)
})

test('each test file gets an empty database, and can drop it', async () => {
  const [one, other] = await Promise.all([freshDatabase(), freshDatabase()])
  await query(one.url, 'create table notes (text text)')
  assert.deepEqual(await query(other.url, `select to_regclass('notes') as found`), [{ found: null }])
  await Promise.all([one.drop(), other.drop()])
  await assert.rejects(query(one.url, 'select 1'), /does not exist/)
})
