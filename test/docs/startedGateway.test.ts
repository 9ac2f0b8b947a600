import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { post, signedRequest } from '../support/merchant/merchant.ts'
import { payOnPage } from '../support/merchant/sdkClient.ts'
import { codeUnder } from './blocks.ts'

// README and quickstart as a newcomer runs them: `npm start` with its private PostgreSQL, then a shop from an empty
// folder. Only ports and the data folder differ from the pages.

const startCommand = codeUnder('README.md', 'Start it')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-started-'))
const root = resolve('.')
let env: Record<string, string>
let url: string
let banner = ''
let gateway: ReturnType<typeof startInGroup>

const startInGroup = (command: string, cwd: string, more: Record<string, string>) =>
  spawn('sh', ['-ec', command], { cwd, env: { ...env, ...more }, detached: true })

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  mkdirSync(join(folder, 'bin'))
  env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: 'http://127.0.0.1:9/', // nothing of a test comes from elsewhere
    npm_config_update_notifier: 'false',
    PORT: port,
    TOLLGATE_DATA_DIR: join(folder, 'data'),
    TOLLGATE_STOP_SECONDS: '0',
  }
  gateway = startInGroup(startCommand.replace('npm ci &&', ''), root, {})
  gateway.stdout.on('data', chunk => (banner += String(chunk)))
  await vi.waitFor(() => expect(banner).toContain('Ctrl-C stops it.'), { timeout: 120_000, interval: 100 })
}, 150_000)
afterAll(async () => {
  const ended = once(gateway, 'close')
  process.kill(-(gateway.pid ?? 0), 'SIGINT')
  await ended
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

async function run(command: string, cwd = folder) {
  const here = command.replaceAll('http://127.0.0.1:8080', url)
  return (await promisify(execFile)('sh', ['-ec', here], { cwd, env, timeout: 100_000 })).stdout
}

const printed = (name: string) => new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(banner)?.[1] ?? ''

test('npm ci agrees with the lock file', async () => {
  expect(startCommand).toBe('npm ci && npm start\n')
  expect(await run('npm ci --dry-run --offline --ignore-scripts', root)).toMatch(/up to date|packages in/)
})

test('npm start prints the address of the demo shop first', async () => {
  expect(codeUnder('docs/quickstart.md', '1. Start a gateway')).toBe(startCommand)
  const [first] = /http:\S+/.exec(banner) ?? []
  expect(first).toBe(`${url}/`)
  expect(await (await fetch(url, { headers: { accept: 'text/html' } })).text()).toContain('Straw hat')
})

test('a copy of the shop, with the SDK of the gateway and the printed keys, sells', async () => {
  const shop = join(folder, 'shop')
  cpSync('examples/shop', shop, { recursive: true })
  const install = codeUnder('docs/sdk.md', 'Node, Deno, Bun, Workers')
  expect(codeUnder('sdk/node/README.md', '@tollgate/merchant')).toBe(install)
  await run(install, shop)

  const command = codeUnder('examples/shop/README.md', 'A shop on @tollgate/merchant')
  const filled = command
    .replace('http://127.0.0.1:8080', url)
    .replace('MERCHANT_KEY=tk_...', `MERCHANT_KEY=${printed('merchant_key')}`)
    .replace('MERCHANT_SECRET=...', `MERCHANT_SECRET=${printed('secret_key')}`)
    .replace('IPN_SECRET=whsec_...', `IPN_SECRET=${printed('ipn_secret')}`)
  expect(filled).not.toContain('...')
  const port = await freePort()
  const server = startInGroup(filled, shop, { PORT: port })
  onTestFinished(() => void process.kill(-(server.pid ?? 0), 'SIGKILL'))
  await once(server.stdout, 'data')

  const bought = await fetch(`http://127.0.0.1:${port}/buy`, {
    method: 'POST',
    body: new URLSearchParams({ article: 'hat', ending: 'paid' }),
    redirect: 'manual',
  })
  await payOnPage(bought.headers.get('location') ?? '', '0240000000')
  const orders = join(shop, 'shop-data/orders')
  const state = () => JSON.parse(readFileSync(join(orders, readdirSync(orders)[0] ?? ''), 'utf8')).state
  await expect.poll(state).toBe('paid')
})

test('the inbox is read with the command of its page', async () => {
  const keys = { merchant_key: printed('merchant_key'), secret_key: printed('secret_key') }
  const { body } = await post(url, signedRequest(keys, { number: '0240000000' }))
  await payOnPage(body.checkout_url, '0240000000')
  const program = `#!/bin/sh\nshift\nexec '${process.execPath}' '${resolve('bin/tollgate.js')}' "$@"\n`
  writeProgram('npx', program)
  await expect
    .poll(async () => JSON.parse(await run(codeUnder('docs/messengers.md', 'The inbox'))))
    .toMatchObject({
      messages: [{ kind: 'sms', topic: 'paid' }],
    })
})

// psql itself is not part of the packages: this one takes the same arguments and the same file of passwords.
const psql = `#!${process.execPath}
const { readFileSync } = require('node:fs')
const { Client } = require('${createRequire(import.meta.url).resolve('pg')}')
const [, host, , user, database] = process.argv.slice(2)
const lines = readFileSync(process.env.PGPASSFILE, 'utf8').trim().split('\\n').map(line => line.split(':'))
const [, port, , , password] = lines.find(([, , , name]) => name === user || name === '*')
const client = new Client({ host, port: port === '*' ? 5432 : Number(port), user, database, password })
client.connect()
  .then(() => client.query('select current_user, count(*)::int from payments group by 1'))
  .then(({ rows }) => (console.log(JSON.stringify(rows)), client.end()))
`

test('the database is opened with the command of its page', async () => {
  writeProgram('psql', psql)
  const [row] = JSON.parse(await run(codeUnder('docs/running.md', 'Its own PostgreSQL')))
  expect(row).toEqual({ current_user: 'tollgate_app', count: expect.any(Number) })
})

function writeProgram(name: string, code: string) {
  const file = join(folder, 'bin', name)
  writeFileSync(file, code)
  chmodSync(file, 0o755)
}
