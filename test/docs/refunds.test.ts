import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { changeSettings } from '../../src/core/merchant/settings.ts'
import { bodies } from '../../src/web/openapi/schemas.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { paidInvoice } from '../support/merchant/refunds.ts'
import { type Block, blocksOf } from './blocks.ts'

// Every block of docs/refunds.md, against a gateway.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const run = promisify(execFile)
const blocks = blocksOf('docs/refunds.md')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-refunds-'))

let gateway: TestGateway
let merchant: TestMerchant
let env: Record<string, string>

beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  const { invoice_id } = await paidInvoice(gateway.url, merchant.test, { invoice_id: 'AMA-1042' })
  const { merchant_key, secret_key } = merchant.test
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    BASE_URL: gateway.url,
    MERCHANT_KEY: merchant_key,
    SECRET_KEY: secret_key,
    INVOICE_ID: invoice_id,
    REFUND_ID: `R-${invoice_id}-1`,
    TOLLGATE_URL: gateway.url,
    TOLLGATE_MERCHANT_KEY: merchant_key,
    TOLLGATE_MERCHANT_SECRET: secret_key,
  }
  const installed = join(folder, 'node_modules/@tollgate/merchant') // not sdk/node/dist: another test builds that
  mkdirSync(installed, { recursive: true })
  cpSync('sdk/node/package.json', join(installed, 'package.json'))
  cpSync('sdk/node/bin', join(installed, 'bin'), { recursive: true })
  const tsc = resolve('node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '-p', 'sdk/node', '--outDir', join(installed, 'dist')])
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

const state = '(requested|pending|unknown|needs_action|succeeded)'

async function shown({ language, code }: Block): Promise<string> {
  if (language === 'sh') {
    const command = code.replace(
      'npx --yes $TOLLGATE_URL/sdk/merchant.tgz',
      'node node_modules/@tollgate/merchant/bin/merchant.js',
    )
    return (await run('sh', ['-ec', command], { cwd: folder, env })).stdout
  }
  writeFileSync(join(folder, 'sample.mjs'), code)
  return (await run(process.execPath, ['sample.mjs'], { cwd: folder, env })).stdout
}

test('the programs of the page refund a payment, and check the refund', async () => {
  const programs = blocks.filter(({ language, code }) => language !== 'json' && !code.startsWith('tollgate '))
  const expected = [
    new RegExp(`"refund_id":"R-AMA-1042-1".*"amount":10,.*"state":"${state}"`),
    new RegExp(`"refund_id":"R-AMA-1042-1".*"state":"${state}"`),
    new RegExp(`^${state}\n${state} GHS 5.00\n$`),
    new RegExp(`Amount {4}GHS 10.00\nState {5}${state}`),
  ]
  expect(programs).toHaveLength(expected.length)
  for (const [at, program] of programs.entries())
    expect(await shown(program), program.code).toMatch(expected[at] as RegExp)
})

test('the bodies on the page are real ones', () => {
  const [answer, notification] = blocks
    .filter(({ language }) => language === 'json')
    .map(({ code }) => JSON.parse(code) as Record<string, unknown>)
  expect(bodies.RefundAnswer.parse(answer)).toEqual(answer)
  expect(bodies.RefundNotification.parse(notification)).toEqual(notification)
  expect(notification).not.toHaveProperty('status')
})

test('the settings of the command exist', () => {
  const [, changes = ''] = /merchant set \w{10} (.*)\n/.exec(blocks.at(-1)?.code ?? '') ?? []
  expect(changeSettings({}, changes.split(' '))).toEqual({
    texts: { refunds: 'on', refund_daily_limit: '500' },
    faults: [],
  })
})
