import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { storeNotification } from '../support/deliveries/notifications.ts'
import { testGateway } from '../support/gateway/gateway.ts'
import { payOnPage } from '../support/merchant/sdkClient.ts'

// The package as a merchant installs it: built, packed, installed without a network, checked and run.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }) // it starts npm and tsc

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-sdk-'))
const inFolder = { cwd: folder }
const examples = [...readFileSync('sdk/node/README.md', 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(
  ([, code = '']) => code,
)
const exampleWith = (text: string) => examples.find(code => code.includes(text)) ?? ''

beforeAll(async () => {
  await run('npm', ['run', 'build', '--workspace', 'sdk/node'])
  await run('npm', ['pack', '--workspace', 'sdk/node', '--pack-destination', folder])
  const [tarball = ''] = readdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], inFolder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
}

async function compile(file: string, code: string, options: object) {
  writeFileSync(join(folder, file), code)
  const config = { compilerOptions: { ...strict, ...options }, files: [file] }
  writeFileSync(join(folder, `${file}.json`), JSON.stringify(config))
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const output = await run(process.execPath, [tsc, '-p', `${file}.json`], inFolder).catch(
    (error: { stdout: string }) => error.stdout,
  )
  expect(typeof output === 'string' ? output : '').toBe('')
}

test('only the package itself is installed, without sources', () => {
  expect(readdirSync(join(folder, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual([
    '@tollgate',
  ])
  const files = readdirSync(join(folder, 'node_modules/@tollgate/merchant')).toSorted()
  expect(files).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json'])
})

const consumer = `
import { createTollgate, memoryStore, OutcomeUnknownError, type Payment, TollgateError } from '@tollgate/merchant'
import { fakeGateway, signedNotification, type TestPayment, testIpnSecret } from '@tollgate/merchant/testing'

const stored: TestPayment[] = [{ invoiceId: 'AMA-1042', totalMinor: 2500 }]
const tollgate = createTollgate({
  baseUrl: 'https://pay.example',
  merchantKey: 'tk_demo',
  merchantSecret: 'secret',
  ipnSecret: testIpnSecret,
  fetch: fakeGateway(stored),
})
const payment: Payment = await tollgate.status({ invoiceId: 'AMA-1042' })
const { request } = await signedNotification({ invoiceId: 'AMA-1042', total: '25.00' }, { ipnSecret: testIpnSecret })
const response: Response = await tollgate.handleNotification({
  request: request(),
  store: memoryStore(),
  findOrder: async () => ({ total: '25.00', hats: 2 }),
  onStatus: ({ status, order }) => console.log(status, order.hats * 2, payment.amountMinor),
})
console.log(response.status)
const refused: unknown = await tollgate.initiate({ invoiceId: 'AMA-1', total: '1' }).catch(error => error)
if (refused instanceof TollgateError && !(refused instanceof OutcomeUnknownError)) console.log(refused.code)
// @ts-expect-error a number is not an amount
const float = () => tollgate.initiate({ invoiceId: 'AMA-2', total: 25.5 })
// @ts-expect-error either total or totalMinor
const both = () => tollgate.initiate({ invoiceId: 'AMA-2', total: '25.50', totalMinor: 2550 })
`

test('a strict program for a web runtime, without the types of Node, compiles and runs', async () => {
  await compile('web.ts', consumer, {
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom'],
    types: [],
  })
  const { stdout } = await run(process.execPath, ['web.js'], inFolder)
  expect(stdout.split('\n')).toEqual(['paid 4 2500', '200', 'GW-005', ''])
})

test('the example of a test in the README runs', async () => {
  writeFileSync(join(folder, 'example.js'), exampleWith('fakeGateway'))
  const { stdout } = await run(process.execPath, ['example.js'], inFolder)
  expect(stdout).toBe('The status is paid\n200\n')
})

// What the shorter examples of the README leave to the reader.
const surroundings = `
import { createServer } from 'node:http'
import { createTollgate, memoryStore } from '@tollgate/merchant'
import { notificationListener } from '@tollgate/merchant/node'
import { fakeGateway, signedNotification, testIpnSecret as ipnSecret } from '@tollgate/merchant/testing'
const payment = { invoiceId: 'AMA-1042', total: '25.00', status: 'paid' }
const options = { baseUrl: 'https://pay.example', merchantKey: 'tk_test', merchantSecret: 'any', ipnSecret }
const tollgate = createTollgate({ ...options, fetch: fakeGateway([payment]) })
const store = memoryStore()
const findOrder = () => ({ total: '25.00' })
const onStatus = ({ status }) => console.log('The status is', status)
const signed = await signedNotification(payment, { ipnSecret })
`

async function runExample(file: string, code: string) {
  writeFileSync(join(folder, file), code)
  return (await run(process.execPath, [file], inFolder)).stdout
}

test('the handler for web runtimes in the README runs', async () => {
  writeFileSync(join(folder, 'worker.js'), surroundings + exampleWith('export default {'))
  const call = `${surroundings}
const { default: worker } = await import('./worker.js')
console.log((await worker.fetch(signed.request())).status, (await worker.fetch(new Request('https://shop.example', { method: 'POST' }))).status)`
  expect(await runExample('callWorker.js', call)).toBe('The status is paid\n200 401\n')
})

// Express calls the first handler that fits, with the objects of node:http, and it parses a body only if it is told to.
const expressLike = `
const rules = { store, findOrder, onStatus }
const handlers = []
const express = () => ({
  post: (path, handler) => handlers.push((req, res) => req.method === 'POST' && req.url === path && (handler(req, res), true)),
  use: handler => handlers.push(handler),
})
express.json = () => async req => { for await (const _chunk of req); }
`

test('the route for Express in the README runs', async () => {
  const call = `${surroundings}${expressLike}${exampleWith('express()')}
const server = createServer((req, res) => handlers.some(handler => handler(req, res))).listen(0, '127.0.0.1')
await new Promise(done => server.once('listening', done))
const request = signed.request(\`http://127.0.0.1:\${server.address().port}/ipn\`)
console.log((await fetch(request)).status)
server.close()`
  expect(await runExample('express.js', call)).toBe('The status is paid\n200\n')
})

test('the loop over events in the README continues where it was stopped', async () => {
  const gateway = await testGateway()
  onTestFinished(() => gateway.stop())
  const { merchant_id, test: keys } = await gateway.addMerchant()
  for (let count = 0; count < 3; count++) await storeNotification(gateway.db, { merchant_id })
  const options = { baseUrl: gateway.url, merchantKey: keys.merchant_key, merchantSecret: keys.secret_key }
  const call = `
import { createTollgate } from '@tollgate/merchant'
const tollgate = createTollgate(${JSON.stringify(options)})
let cursor
const loadCursor = async () => cursor
const saveCursor = async value => { cursor = value }
let stopAfter = 2
const processEvent = async ({ type, status }) => {
  if (stopAfter-- === 0) throw new Error('stopped')
  console.log(type, status)
}
async function read() {
${exampleWith('tollgate.events(')}}
await read().catch(error => console.log(error.message))
await read()`
  expect(await runExample('events.js', call)).toBe('status paid\nstatus paid\nstopped\nstatus paid\n')
})

test('the quick start of the README compiles for Node, and is paid at a real gateway', async () => {
  const port = await freePort()
  const code = exampleWith('notificationListener(tollgate, {').replaceAll('3000', String(port))
  await compile('quickStart.ts', code, {
    module: 'nodenext',
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
  })
  const gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
  onTestFinished(() => gateway.stop())
  const { merchant_key, secret_key, ipn_secret } = (await gateway.addMerchant()).test
  const shop = spawn(process.execPath, ['quickStart.js'], {
    ...inFolder,
    env: {
      PATH: process.env.PATH,
      TOLLGATE_URL: gateway.url,
      TOLLGATE_MERCHANT_KEY: merchant_key,
      TOLLGATE_MERCHANT_SECRET: secret_key,
      TOLLGATE_IPN_SECRET: ipn_secret,
    },
  })
  onTestFinished(() => void shop.kill())
  const [output] = await once(shop.stdout, 'data')
  await payOnPage(/http\S+/.exec(String(output))?.[0] ?? '', '0240000000')
  const claims = join(folder, 'notifications')
  const isCompleted = () =>
    existsSync(claims) && readdirSync(claims).some(claim => existsSync(join(claims, claim, 'done')))
  await expect.poll(isCompleted).toBe(true)
})

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
