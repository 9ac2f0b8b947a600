import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { query } from '../support/database/database.ts'
import { afterFile } from '../support/vitest/afterFile.ts'

// Clusters of other runs on this machine are not touched.
const TMPDIR = mkdtempSync(join(tmpdir(), 'tollgate-clusters-'))
afterFile(() => rmSync(TMPDIR, { recursive: true, force: true }))

const program = 'test/cluster/run.js'
const run = (args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number; stdout: string; stderr: string }>(resolve => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: { ...process.env, TMPDIR, ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })

test('a command runs on the server, and its exit code is that of the program', async () => {
  const script = `
    const client = new (require('pg').Client)({ connectionString: process.env.TEST_DATABASE_URL })
    client.connect()
      .then(() => client.query("select current_setting('server_version') as version, rolcreatedb from pg_roles where rolname = current_user"))
      .then(({ rows }) => (console.log(JSON.stringify(rows[0])), client.end()))
      .then(() => process.exit(7))`
  const { code, stdout } = await run(['pg18', process.execPath, '-e', script])
  expect(JSON.parse(stdout)).toEqual({ version: expect.stringMatching(/^18\./), rolcreatedb: true })
  expect(code).toBe(7)
})

test('the URL is printed, and stop takes the server down', async () => {
  const child = spawn(process.execPath, [program, 'pg18'], { env: { ...process.env, TMPDIR } })
  const ended = once(child, 'exit')
  const [line] = await once(child.stdout, 'data')
  const url = /^export TEST_DATABASE_URL='(.*)'\n$/.exec(String(line))?.[1] ?? ''
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  expect((await run(['stop'])).stderr).toMatch(/pg18-\d+ is stopped/)
  expect((await ended)[0]).toBe(0)
  await expect(query(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  expect(readdirSync(TMPDIR).filter(name => !name.startsWith('tollgate-clusters-'))).toEqual([])
  expect((await run(['stop'])).stderr).toContain('none is running')
})

test('a PostgreSQL that cannot be had fails with what to do, or is skipped', async () => {
  const home = join(TMPDIR, 'home')
  mkdirSync(home)
  const offline = {
    HOME: home,
    npm_config_cache: join(home, 'cache'),
    npm_config_registry: 'http://127.0.0.1:1',
  }
  const env = { ...offline, npm_config_fetch_retries: '0' }
  const failed = await run(['pg17', 'true'], env)
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('apt-get install postgresql-17')
  const skipped = await run(['--or-skip', 'pg17', 'true'], env)
  expect(skipped.stderr).toContain('SKIPPED: nothing ran on pg17')
  expect(skipped.code).toBe(0)
  rmSync(home, { recursive: true })
})

test('Citus has two workers, or is skipped with what to do', async context => {
  const script = `
    const client = new (require('pg').Client)({ connectionString: process.env.TEST_DATABASE_URL })
    client.connect()
      .then(() => client.query("select count(*)::int as workers, not rolsuper as is_ordinary from citus_get_active_worker_nodes(), pg_roles where rolname = current_user group by 2"))
      .then(({ rows }) => (console.log(JSON.stringify(rows[0])), client.end()))`
  const { code, stdout, stderr } = await run(['--or-skip', 'citus', process.execPath, '-e', script])
  expect(code).toBe(0)
  if (stderr.includes('SKIPPED')) {
    expect(stderr).toMatch(/TOLLGATE_CITUS_SOURCE|apt-get install/)
    context.skip(stderr)
  }
  expect(JSON.parse(stdout)).toEqual({ workers: 2, is_ordinary: true })
})

test('an unknown kind is refused with those that there are', async () => {
  const { code, stderr } = await run(['pg14'])
  expect(code).toBe(2)
  expect(stderr).toContain('There is no kind "pg14"')
  expect(stderr).toContain('pg15')
})
