import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../../support/gateway/gateway.ts'
import { serve } from './handler.ts'

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

// The package as an older gateway would serve it.
async function olderTarball() {
  const cwd = mkdtempSync(join(folder, 'older-'))
  await run('tar', ['xzf', resolve('dist/sdk/merchant.tgz')], { cwd })
  const manifest = join(cwd, 'package/package.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"version": "[^"]+"/, '"version": "0.0.1"'))
  await run('tar', ['czf', 'older.tgz', 'package'], { cwd })
  return readFileSync(join(cwd, 'older.tgz'))
}

test('after an update of the gateway the old copy of npx says so, and how to get the new one', async () => {
  const cwd = mkdtempSync(join(folder, 'update-'))
  let older: Buffer | undefined = await olderTarball()
  const site = await serve(async ({ url: path = '', method = '', headers }, response) => {
    if (older) return response.writeHead(200, { 'x-tollgate-version': '0.0.1', etag: '"old"' }).end(older)
    const etag = headers['if-none-match']
    const answer = await fetch(gateway.url + path, { method, headers: etag ? { 'if-none-match': etag } : {} })
    const body = Buffer.from(await answer.arrayBuffer())
    return response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body)
  })
  const sign = () =>
    run('npx', [`${site}/sdk/merchant.tgz`, 'sign', 'invoice_id=1'], {
      cwd,
      env: {
        ...env,
        TOLLGATE_URL: site,
        TOLLGATE_MERCHANT_KEY: 'tk_1',
        TOLLGATE_MERCHANT_SECRET: 'secret',
      },
    })
  const first = await sign()
  expect([first.stdout, first.stderr]).toEqual([expect.stringMatching(/^text {2}/), ''])
  older = undefined
  const { stdout, stderr } = await sign()
  expect(stdout).toBe(first.stdout)
  expect(stderr).toMatch(/^These commands have version 0\.0\.1, and the gateway at \S+ has \d+\.\d+\.\d+\./)
  const [, cure = ''] = /(rm -rf "[^"]+")/.exec(stderr) ?? []
  await run('sh', ['-c', cure], { cwd, env })
  const cured = await sign()
  expect([cured.stdout, cured.stderr]).toEqual([first.stdout, ''])
})

const consumer = `
import { createTollgate, memoryStore, type Payment } from '@tollgate/merchant'
import { examListener, fileStore, notificationListener } from '@tollgate/merchant/node'
import { signedNotification, testIpnSecret } from '@tollgate/merchant/testing'

const tollgate = createTollgate({ baseUrl: 'https://pay.example', merchantKey: 'tk_1', merchantSecret: 's' })
export const payment: Promise<Payment> = tollgate.status({ invoiceId: 'A-1' })
export const listener = notificationListener(tollgate, {
  store: Math.random() > 0.5 ? memoryStore() : fileStore('./claims'),
  findOrder: () => ({ total: '25.00', hats: 2 }),
  onStatus: ({ status, order }) => console.log(status, order.hats * 2),
})
export const exam = examListener(tollgate, { createOrder: order => order.total, readOrder: () => undefined })
export const signed = signedNotification({ invoiceId: 'A-1', total: '25.00' }, { ipnSecret: testIpnSecret })
// @ts-expect-error a number is not an amount
export const float = () => tollgate.initiate({ invoiceId: 'A-1', total: 25.5 })
`

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
  writeFileSync(join(cwd, 'consumer.ts'), consumer)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2022',
    noEmit: true,
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
  }
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
  const checked = run(process.execPath, [resolve('node_modules/typescript/bin/tsc')], { cwd })
  expect(await checked.catch((error: { stdout: string }) => error)).toMatchObject({ stdout: '' })
})
