import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { build } from '../build.js'
import { type TestGateway, testGateway } from './support/gateway/gateway.ts'
import { payOnPage } from './support/merchant/sdkClient.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 }) // it builds, and starts programs

// examples/shop as a developer has it: copied to a folder of its own, with the SDK installed.
const folder = mkdtempSync(join(tmpdir(), 'tollgate-shop-'))
let gateway: TestGateway
let shop: ChildProcess
let url: string

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(done => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  return port
}

beforeAll(async () => {
  await build()
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
  cpSync('examples/shop', folder, { recursive: true })
  const sdk = join(folder, 'node_modules/@tollgate/merchant')
  mkdirSync(sdk, { recursive: true })
  cpSync('sdk/node/dist', join(sdk, 'dist'), { recursive: true })
  cpSync('sdk/node/package.json', join(sdk, 'package.json'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const { test: keys } = await gateway.addMerchant()
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  shop = spawn(process.execPath, ['server.js'], {
    cwd: folder,
    env: {
      PORT: String(port),
      TOLLGATE_URL: gateway.url,
      TOLLGATE_MERCHANT_KEY: keys.merchant_key,
      TOLLGATE_MERCHANT_SECRET: keys.secret_key,
      TOLLGATE_IPN_SECRET: keys.ipn_secret,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await new Promise(done => shop.stdout?.once('data', done))
})
afterAll(async () => {
  shop?.kill()
  await gateway?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const buy = (article: string) =>
  fetch(`${url}/buy`, {
    method: 'POST',
    body: new URLSearchParams({ article, ending: 'paid' }),
    redirect: 'manual',
  })

// Only one order is ever stored.
function storedOrder() {
  const orders = join(folder, 'shop-data/orders')
  const [name = ''] = readdirSync(orders)
  return JSON.parse(readFileSync(join(orders, name), 'utf8')) as { invoiceId: string; state: string }
}

test('the shop on its own port sells, is notified, and stores that the order is paid', async () => {
  expect(await (await fetch(url)).text()).toContain('Straw hat')
  expect((await fetch(`${url}/pictures/hat.svg`)).headers.get('content-type')).toBe('image/svg+xml')
  const bought = await buy('hat')
  const checkout = bought.headers.get('location') ?? ''
  expect([bought.status, checkout]).toEqual([303, expect.stringContaining('/checkout/')])
  await payOnPage(checkout, '0240000000')
  await expect.poll(() => storedOrder().state).toBe('paid') // by the notification: nobody has opened the return page
  const page = await fetch(`${url}/order?id=${storedOrder().invoiceId}`)
  expect(await page.text()).toContain('Paid. Thank you.')
})

test('an unknown article and an unknown order are refused, and a forged notification too', async () => {
  expect((await buy('car')).status).toBe(422)
  expect((await fetch(`${url}/order?id=DEMO-NONE`)).status).toBe(404)
  expect((await fetch(`${url}/ipn`, { method: 'POST', body: '{}' })).status).toBe(401)
})

test('the code has about 150 lines without comments, as the shop says', () => {
  const lines = ['shop.js', 'server.js'].flatMap(name =>
    readFileSync(`examples/shop/${name}`, 'utf8').split('\n'),
  )
  const code = lines.filter(line => line.trim() !== '' && !/^\s*(\/\/|\/?\*)/.test(line))
  expect(code.length).toBeGreaterThan(120)
  expect(code.length).toBeLessThan(180)
})
