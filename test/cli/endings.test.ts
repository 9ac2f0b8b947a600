import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { type Env, fatalIn, launch, newMasterKey, temporaryFolder, tollgate } from './tollgate.ts'

vi.setConfig({ testTimeout: 120_000 }) // it starts whole gateways

// Gateways that exit abruptly, on a database that keeps running.
let database: FreshDatabase
let env: Env
beforeAll(async () => {
  database = await migratedDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newMasterKey(), PORT: '0' }
})
afterAll(() => database.drop())

test('an uncaught error is logged in full, and the exit code is 70', async () => {
  const script =
    `data:text/javascript,const write = process.stdout.write; process.stdout.write = function (...told) {
    Promise.reject(new Error('a strange thing')); return write.apply(this, told) }`.replaceAll('\n', '')
  const { code, stderr } = await tollgate({ ...env, NODE_OPTIONS: `--import="${script}"` }, 'start')
  expect(code).toBe(70)
  const last = fatalIn(stderr)
  expect(last).toMatchObject({ level: 'fatal', msg: 'bug', error: { message: 'a strange thing' } })
  expect(last.error.stack).toContain('at ')
})

test('a second Ctrl-C does not wait for open requests', async () => {
  const gateway = launch(env, 'start', '--json')
  await gateway.says('\n')
  const { port, hostname } = new URL(JSON.parse(gateway.stdout()).url)
  const slow = connect(Number(port), hostname).on('error', () => {})
  slow.write('POST /v1/mobile_agents_v2 HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{')
  await sleep(200)
  gateway.child.kill('SIGINT')
  await sleep(800)
  expect(gateway.child.exitCode).toBeNull()
  gateway.child.kill('SIGINT')
  expect((await gateway.ended).code).toBe(130)
  slow.destroy()
})

test('at a terminal it prints colour, short log lines and the progress of a stop', async context => {
  if (spawnSync('script', ['-qec', 'true', '/dev/null']).status !== 0)
    context.skip('SKIPPED: script(1) cannot play a terminal here')
  const dataDir = join(temporaryFolder(), 'data')
  const command = `exec ${process.execPath} bin/tollgate.js start`
  const terminal = spawn('script', ['-qec', command, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TERM: 'xterm-256color',
      PORT: '0',
      TOLLGATE_DATA_DIR: dataDir,
    },
  })
  let shown = ''
  terminal.stdout.on('data', chunk => (shown += String(chunk)))
  const ended = once(terminal, 'close')
  await expect.poll(() => shown, { timeout: 60_000 }).toContain('Ctrl-C stops it.')
  const base = /Checkout and API +(\S+)/.exec(stripVTControlCharacters(shown))?.[1]
  await expect.poll(async () => (await fetch(`${base}/docs`)).status).toBe(200) // it may still be busy with its start
  await expect.poll(() => shown).toContain('route=/docs status=200')
  terminal.stdin.write('\x03') // Ctrl-C
  expect(await ended).toEqual([0, null])
  expect(shown).toContain('\x1b[1m')
  const lines = stripVTControlCharacters(shown).split(/\r?\n/)
  expect(lines[0]).toBe(`Starting PostgreSQL in ${dataDir}`)
  expect(
    lines.some(line => /^\d\d:\d\d:\d\d {2}info {3}request {2}.*route=\/docs status=200/.test(line)),
  ).toBe(true)
  expect(lines.slice(-3)).toEqual(['Stopping...', 'Stopped.', ''])
})
