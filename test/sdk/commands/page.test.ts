import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { migratedDatabase } from '../../support/database/database.ts'
import {
  type GatewayProcess,
  spawnGateway,
  type TestGateway,
  testGateway,
  type TestMerchant,
} from '../../support/gateway/gateway.ts'
import { post, signedRequest } from '../../support/merchant/merchant.ts'
import { storeNotification } from '../../support/deliveries/notifications.ts'
import { paidInvoice } from '../../support/merchant/refunds.ts'
import { freePort, serve } from './handler.ts'

// Every command of docs/developer-commands.md, as it stands there, by the real npx from the tarball of the real program.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const page = readFileSync('docs/developer-commands.md', 'utf8')
const blocksIn = (language: string) =>
  [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, found, code = '']) =>
    found === language ? [code] : [],
  )
const commandWith = (text: string) => blocksIn('sh').find(code => code.includes(text)) ?? ''

const folder = mkdtempSync(join(tmpdir(), 'tollgate-page-'))
let program: GatewayProcess
let gateway: TestGateway
let merchant: TestMerchant
let env: Record<string, string>

beforeAll(async () => {
  const database = await migratedDatabase()
  const key = { TOLLGATE_MASTER_KEY: '11'.repeat(32) }
  gateway = await testGateway(key, {}, database) // adds the merchant
  merchant = await gateway.addMerchant()
  program = await spawnGateway({ DATABASE_URL: database.url, ...key })
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_update_notifier: 'false',
    TOLLGATE_URL: program.url,
    TOLLGATE_MERCHANT_KEY: merchant.test.merchant_key,
    TOLLGATE_MERCHANT_SECRET: merchant.test.secret_key,
    TOLLGATE_IPN_SECRET: merchant.test.ipn_secret,
  }
  await run(blocksIn('sh')[1] ?? '') // npm install
})
afterAll(async () => {
  await program.kill('SIGKILL')
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

const here = (code: string, port = 3000) =>
  code.replaceAll('http://127.0.0.1:8080', program.url).replaceAll('3000', String(port))

async function run(code: string, port?: number) {
  const options = { cwd: folder, env, timeout: 100_000 }
  return (await promisify(execFile)('sh', ['-ec', here(code, port)], options)).stdout
}

test('the package is run and installed from the gateway', async () => {
  expect(await run(blocksIn('sh')[0] ?? '')).toContain('Usage: tollgate-merchant')
  expect(await run('node_modules/.bin/tollgate-merchant --version')).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('sign', async () => {
  expect(await run(commandWith('sign invoice_id'))).toMatch(
    /^text {2}invoice_id=AMA-1042&.*\nhash {2}\w{64}\n/,
  )
})

test('listen', async () => {
  let count = 0
  const url = new URL(await serve((_, response) => (count++, response.end())))
  const code = here(commandWith(' listen '), Number(url.port))
  const child = spawn('sh', ['-ec', code], { cwd: folder, env, detached: true })
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (output += chunk))
  await expect.poll(() => output).toContain('Listening to')
  await storeNotification(gateway.db, { merchant_id: merchant.merchant_id })
  await expect.poll(() => output).toMatch(/ paid .* 200 {2}\d+ ms/)
  expect(count).toBe(1)
  const ended = once(child, 'close')
  process.kill(-(child.pid ?? 0), 'SIGINT')
  await ended
})

test('refund', async () => {
  await paidInvoice(program.url, merchant.test, { invoice_id: 'AMA-1042' })
  expect(await run(commandWith(' refund AMA'))).toMatch(/Amount {4}GHS 10\.00\nState {5}\w+\n/)
})

test('the shop of the page passes the exam', async () => {
  const port = await freePort()
  const examPort = await freePort()
  const shop = blocksIn('js')[0] ?? ''
  writeFileSync(join(folder, 'shop.js'), here(shop, port))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const code = commandWith(' exam ').replace(' -- ', ` --port ${examPort} -- `)
  expect(await run(code, port)).toMatch(/\n18 of 18 checks passed\.\n$/)
})

test('every check has a section', () => {
  const source = ['checks.ts', 'hostileChecks.ts'].map(file =>
    readFileSync(`sdk/node/src/cli/exam/${file}`, 'utf8'),
  )
  const names = [...source.join('').matchAll(/^ {2}name: '([\w-]+)'/gm)].map(([, name]) => name)
  expect(names).toHaveLength(18)
  for (const name of names) expect(page).toContain(`\n### ${name}\n`)
})

const statusesOf = async (tx_reference = '') =>
  (
    await gateway.db.rows<{ status: string }>(sql`
      select body::jsonb->>'status' as status from notifications where tx_reference = ${tx_reference} order by sequence`)
  ).map(({ status }) => status)

test('trigger, clock', async () => {
  const started = await run(commandWith(' trigger '))
  const reference = String.raw`Invoice   TRIGGER-\w+\nReference (TG-\S+)\nStatus    awaiting_payment\nPage      \S+\n`
  const [, paid, late] =
    new RegExp(`^The customer approves.*\n${reference}The payment expires.*\n${reference}$`).exec(started) ??
    []
  await expect.poll(() => statusesOf(paid), { timeout: 30_000 }).toEqual(['paid'])
  await expect.poll(() => statusesOf(late), { timeout: 30_000 }).toEqual(['failed', 'paid'])
  const { invoice_id } = signedRequest(merchant.test)
  const { body } = await post(program.url, signedRequest(merchant.test, { invoice_id }))
  expect(await run(commandWith(' clock '))).toMatch(
    /^The clock of your test payments is 24h further\.\n +1 {2}payments\n/,
  )
  await expect.poll(() => statusesOf(body.tx_reference), { timeout: 30_000 }).toEqual(['failed'])
})

test('requests', async () => {
  const { body } = await post(program.url, signedRequest(merchant.test, { total: '5.001' }))
  await expect
    .poll(() => run(commandWith(' requests')), { timeout: 60_000 })
    .toMatch(
      new RegExp(`^\\S+ {2}400  GW-012  POST /v1/\\w+  ${body.request_id}\n {4}total: at most 2 decimals`),
    )
})
