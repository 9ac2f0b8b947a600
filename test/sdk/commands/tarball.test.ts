import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../../support/gateway/gateway.ts'

// The tarball that the gateway serves, installed by the real npm from the real program. Nothing else is asked: the
// registry is an address where nothing listens.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-tarball-'))
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  npm_config_cache: join(folder, 'cache'),
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_update_notifier: 'false',
  npm_config_yes: 'true',
}
let database: FreshDatabase
let gateway: GatewayProcess
let url: string

beforeAll(async () => {
  database = await freshDatabase()
  gateway = await spawnGateway({ DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: '11'.repeat(32) })
  url = `${gateway.url}/sdk/merchant.tgz`
})
afterAll(async () => {
  await gateway.kill('SIGKILL')
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

test('the tarball has a version, and comes again only if it has changed', async () => {
  const first = await fetch(url)
  const etag = first.headers.get('etag') ?? ''
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/gzip'])
  expect(etag).toMatch(/^"\w{10}"$/)
  const bytes = Buffer.from(await first.arrayBuffer())
  expect(bytes).toEqual(readFileSync('dist/sdk/merchant.tgz'))
  const again = await fetch(url, { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
  expect((await fetch(url, { method: 'POST' })).status).toBe(405)
})

test('the same sources give the same bytes, and the files that npm packs', async () => {
  const before = readFileSync('dist/sdk/merchant.tgz')
  const packed = "import('./sdk/node/build.js').then(b => process.stdout.write(b.packMerchantPackage()))"
  const made = execFileSync(process.execPath, ['-e', packed], { maxBuffer: 10_000_000 })
  expect(made).toEqual(before)
  const { stdout } = await run('npm', ['pack', '--workspace', 'sdk/node', '--dry-run', '--json'])
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const listed = String(execFileSync('tar', ['tzf', 'dist/sdk/merchant.tgz']))
    .trim()
    .split('\n')
  expect(listed.toSorted()).toEqual(files.map(({ path }) => `package/${path}`).toSorted())
})

test('npx runs a command from it, in an empty folder', async () => {
  const cwd = mkdtempSync(join(folder, 'npx-'))
  const { stdout } = await run('npx', [url, '--help'], { cwd, env })
  expect(stdout).toContain('Usage: tollgate-merchant')
})

test('npm installs it into an empty folder, with its command and its types', async () => {
  const cwd = mkdtempSync(join(folder, 'install-'))
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }')
  await run('npm', ['install', url], { cwd, env })
  const { dependencies } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
  expect(dependencies).toEqual({ '@tollgate/merchant': url })
  const command = join(cwd, 'node_modules/.bin/tollgate-merchant')
  expect((await run(command, ['--version'], { cwd, env })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  const code = "import { createTollgate } from '@tollgate/merchant'; console.log(typeof createTollgate)"
  expect((await run(process.execPath, ['--input-type=module', '-e', code], { cwd })).stdout).toBe(
    'function\n',
  )
})
