import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { migratedDatabase } from '../support/database/database.ts'
import {
  type GatewayProcess,
  spawnGateway,
  type TestGateway,
  testGateway,
} from '../support/gateway/gateway.ts'
import { payOnPage } from '../support/merchant/sdkClient.ts'
import { freePort } from '../sdk/commands/handler.ts'

// docs/quickstart.md from an empty folder to a paid order, with its commands and its shop as they stand there.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const page = readFileSync('docs/quickstart.md', 'utf8')
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, code = '']) => ({
  language,
  code,
}))
const commandWith = (text: string) =>
  blocks.find(({ language, code }) => language === 'sh' && code.includes(text))?.code ?? ''

const folder = mkdtempSync(join(tmpdir(), 'tollgate-quickstart-'))
const shopFolder = mkdtempSync(join(folder, 'my-shop-'))
let program: GatewayProcess
let gateway: TestGateway
let ports: { shop: number; exam: number }
let env: Record<string, string>

beforeAll(async () => {
  const database = await migratedDatabase()
  const settings = { TOLLGATE_MASTER_KEY: '11'.repeat(32), TOLLGATE_EGRESS_LOOPBACK: 'on' }
  gateway = await testGateway(settings, {}, database) // adds the merchant
  program = await spawnGateway({ DATABASE_URL: database.url, ...settings })
  ports = { shop: await freePort(), exam: await freePort() }
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_update_notifier: 'false',
  }
})
afterAll(async () => {
  await program.kill('SIGKILL')
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

const here = (code: string) =>
  code.replaceAll('http://127.0.0.1:8080', program.url).replaceAll('3000', String(ports.shop))

const run = async (code: string) =>
  (await promisify(execFile)('sh', ['-ec', here(code)], { cwd: shopFolder, env, timeout: 100_000 })).stdout

test('the shop of the page is installed, passes the exam, and sells', async () => {
  await run(commandWith('npm init'))
  const shop = here(blocks.find(({ language }) => language === 'js')?.code ?? '')
  writeFileSync(join(shopFolder, 'shop.js'), shop)
  const exam = commandWith(' exam ').replace(' -- ', ` --port ${ports.exam} -- `)
  expect(await run(exam)).toMatch(/\n18 of 18 checks passed\.\n$/)

  const promised = "if (status === 'paid') order.deliveries++"
  expect(shop).toContain(promised)
  writeFileSync(join(shopFolder, 'faulty.js'), shop.replace(promised, 'order.deliveries++'))
  const few = exam.replace(' --port', ' --only paid,failed --port').replace('shop.js', 'faulty.js')
  expect(await run(few).catch((error: { stdout: string }) => error.stdout)).toContain('\nFAIL  failed ')

  const { merchant_key, secret_key, ipn_secret } = (await gateway.addMerchant()).test
  const [, exports = ''] = /^(.*)node shop\.js$/ms.exec(commandWith('export TOLLGATE_URL').trim()) ?? []
  const keys = here(exports)
    .replace('tk_...', merchant_key)
    .replace('whsec_...', `'${ipn_secret}'`)
    .replace('SECRET=...', `SECRET=${secret_key}`)
  const child = spawn('sh', ['-ec', `${keys}exec node shop.js`], { cwd: shopFolder, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (output += chunk))
  await expect.poll(() => output).toContain('The shop is open')

  const buy = async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.shop}/buy`, { redirect: 'manual' })
    return answer.headers.get('location') ?? ''
  }
  await payOnPage(await buy(), '0240000000')
  await expect.poll(() => output).toMatch(/^(HAT-\w+) new\n\1 paid\n/m)
  await buy()
  const [, unpaid = ''] = /^(HAT-\w+) new\n$/m.exec(output) ?? []
  const started = await run(keys + commandWith(' trigger ').replace('HAT-...', unpaid))
  expect(started).toContain(`Invoice   ${unpaid}\n`)
  await expect.poll(() => output, { timeout: 30_000 }).toContain(`${unpaid} failed\n${unpaid} paid\n`)
})
