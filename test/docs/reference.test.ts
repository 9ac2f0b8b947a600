import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ApiDocument, operationsOf } from '../../src/web/docs/reference/operations.ts'
import { type Sample, samplesOf } from '../../src/web/docs/reference/samples.ts'
import { openapiDocument } from '../../src/web/openapi/document.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { operatorToken } from '../support/gateway/operatorAuth.ts'
import { post, signedRequest } from '../support/merchant/merchant.ts'
import { paidInvoice } from '../support/merchant/refunds.ts'

// Every sample of the API reference, run as a developer who pastes it: in a folder that has the SDKs and nothing else.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

const run = promisify(execFile)
const document: ApiDocument = JSON.parse(JSON.stringify(openapiDocument('')))
const operations = operationsOf(document).filter(({ path }) => path !== '')

const programs: Record<Sample['language'], { needs: string; file: string }> = {
  sh: { needs: 'curl', file: 'sample.sh' },
  js: { needs: process.execPath, file: 'sample.mjs' },
  php: { needs: 'php', file: 'sample.php' },
  python: { needs: 'python3', file: 'sample.py' },
}

let gateway: TestGateway
let folder: string
let env: Record<string, string>
let keys: { merchant_key: string; secret_key: string }

beforeAll(async () => {
  gateway = await testGateway()
  keys = (await gateway.addMerchant()).test
  env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    TOLLGATE_URL: gateway.url,
    TOLLGATE_MERCHANT_KEY: keys.merchant_key,
    TOLLGATE_MERCHANT_SECRET: keys.secret_key,
    TOLLGATE_METRICS_TOKEN: operatorToken,
  }
  folder = mkdtempSync(join(tmpdir(), 'tollgate-samples-'))
  const merchant = join(folder, 'node_modules/@tollgate/merchant') // not sdk/node/dist: another test builds that
  mkdirSync(merchant, { recursive: true })
  cpSync('sdk/node/package.json', join(merchant, 'package.json'))
  const tsc = resolve('node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '-p', 'sdk/node', '--outDir', join(merchant, 'dist')])
  for (const file of ['sdk/php/Tollgate.php', 'sdk/python/tollgate.py'])
    cpSync(file, join(folder, file.split('/').at(-1) ?? ''))
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

// What the output of a sample shows if it worked.
const works: Record<string, RegExp> = {
  initiatePayment: /\/checkout\/\w{42}/,
  readEvents: /Continue after|"success":true/,
  openCheckout: /<html/,
  readDescription: /"openapi":"3\.1/,
  openReference: /<html/,
  readGuide: /^# Tollgate/,
  isAlive: /^ok/,
  isReady: /^ready/,
  readMetrics: /tollgate_http_requests_total/,
}
const worksByTag: Record<string, RegExp> = {
  Status: /awaiting_payment/,
  Refunds: /requested|pending|unknown|needs_action|succeeded/,
  'Web forms': /\/checkout\/\w{42}|name="secure_hash" value="\w{64}"/,
}

// The clock ends the payment whose status the others check.
const inOrder = operations.toSorted(
  (a, b) => Number(a.id === 'advanceClock') - Number(b.id === 'advanceClock'),
)

for (const [language, { needs, file }] of Object.entries(programs)) {
  const isMissing = spawnSync(needs, ['--version']).error !== undefined
  if (isMissing)
    console.warn(`SKIPPED: ${needs} is not on this machine, so the ${language} samples were not run.`)
  test.skipIf(isMissing)(`every ${language} sample works`, async () => {
    const program = language === 'sh' ? 'sh' : needs
    const { body } = await post(gateway.url, signedRequest(keys))
    const ofPayment = { INVOICE_ID: body.invoice_id, TOKEN: body.tx_token }
    const { invoice_id } = await paidInvoice(gateway.url, keys)
    const ofRefund = { INVOICE_ID: invoice_id, REFUND_ID: `R-${invoice_id}-1` }
    for (const operation of inOrder) {
      const sample = samplesOf(operation).find(one => one.language === language)
      writeFileSync(join(folder, file), sample?.code ?? '')
      const own = operation.tag === 'Refunds' ? ofRefund : ofPayment
      const { stdout } = await run(program, [file], { cwd: folder, env: { ...env, ...own } }).catch(
        (error: { stdout: string; stderr: string }) => ({ stdout: `${error.stdout}${error.stderr}` }),
      )
      const expected = works[operation.id] ?? worksByTag[operation.tag] ?? /"success": ?true/
      expect(stdout, `${operation.id}\n${sample?.code}`).toMatch(expected)
    }
  })
}
