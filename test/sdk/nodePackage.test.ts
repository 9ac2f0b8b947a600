import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
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
