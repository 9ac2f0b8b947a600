import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { triggerOutcomes } from '../../src/core/testing/trigger.ts'
import { testGateway } from '../support/gateway/gateway.ts'
import { checkStatus } from '../support/merchant/merchant.ts'

const page = readFileSync('docs/sandbox.md', 'utf8')
const [, commands = ''] = /^```sh\n(.*?)^```$/ms.exec(page) ?? []
const isLacking = ['curl', 'openssl'].some(program => spawnSync(program, ['--version']).error)

test.skipIf(isLacking)('the commands of the sandbox page do what it says', async () => {
  const gateway = await testGateway()
  const { test: keys } = await gateway.addMerchant()
  const { merchant_key, secret_key } = keys
  const env = {
    PATH: process.env.PATH,
    BASE_URL: gateway.url,
    MERCHANT_KEY: merchant_key,
    SECRET_KEY: secret_key,
  }
  const { stdout } = await promisify(execFile)('sh', ['-ec', commands], { env })
  const answers = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(answers).toMatchObject([
    { success: true, outcome: 'paid_twice' },
    { success: true, outcome: 'no_answer', status: 'awaiting_payment' },
    { success: true, advanced_seconds: 900 },
  ])
  const statusOf = async (invoice_id: string) =>
    (await checkStatus(gateway.url, { merchant_key, invoice_id })).body.status
  await expect.poll(() => statusOf(answers[0].invoice_id)).toBe('paid')
  await expect.poll(() => statusOf(answers[1].invoice_id)).toBe('failed')
  await gateway.stop()
})

test('the interface page has every outcome in its table', () => {
  const table = readFileSync('docs/interface.md', 'utf8')
  for (const outcome of Object.keys(triggerOutcomes)) expect(table).toContain(`\n| \`${outcome}\` | `)
})
