import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openapiDocument } from '../../../src/web/openapi/document.ts'

// Ten lines that use a client which a generator made from the OpenAPI document, compiled. The generators are not packages
// of this repository; `npm install --no-save openapi-typescript swagger-typescript-api` brings them.
vi.setConfig({ testTimeout: 240_000 })

const run = promisify(execFile)

// The folder of a package, and undefined if it is not installed.
function folderOf(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

const request = `{
  merchant_key: 'tk_1',
  invoice_id: 'AMA-1042',
  total: '25.00',
  generate_checkout_url: true,
  secure_hash: '00',
}`

const generators = [
  {
    name: 'openapi-typescript',
    script: 'bin/cli.js',
    args: ['openapi.json', '-o', 'client.ts'],
    use: `
import type { components, operations } from './client.ts'
type Initiate = operations['initiatePayment']
type Body = Initiate['requestBody']['content']['application/json']
const body: Body = ${request}
type Answer = Initiate['responses'][200]['content']['application/json']
const read = (answer: Answer) => (answer.success && 'checkout_url' in answer ? answer.checkout_url : undefined)
type Status = components['schemas']['StatusRecord']
const isPaid = (payment: Status) =>
  payment.status === 'paid' && payment.amount === 25 && payment.currency === 'GHS'
export { body, read, isPaid }`,
  },
  {
    name: 'swagger-typescript-api',
    script: 'dist/cli.mjs',
    args: ['generate', '-p', 'openapi.json', '-o', '.', '-n', 'client.ts'],
    use: `
import { Api, type StatusRecord } from './client.ts'
const api = new Api({ baseUrl: 'http://127.0.0.1:8080' })
const { data } = await api.v1.initiatePayment(${request})
console.log('checkout_url' in data && data.checkout_url)
const checked = await api.v1.checkStatus({ merchant_key: 'tk_1', invoice_id: 'AMA-1042' })
const payment = checked.data as StatusRecord
const isPaid = payment.status === 'paid' && payment.amount === 25 && payment.currency === 'GHS'
console.log(isPaid)`,
  },
]

const options = { strict: true, target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom'], types: [] }

for (const { name, script, args, use } of generators) {
  const installed = folderOf(name)
  if (!installed) console.warn(`SKIPPED: ${name} is not installed, so no client of it was compiled.`)
  test.skipIf(!installed)(`ten lines compile against a client of ${name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-client-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const write = (file: string, value: unknown) =>
      writeFileSync(join(folder, file), typeof value === 'string' ? value : JSON.stringify(value))
    write('openapi.json', openapiDocument('http://127.0.0.1:8080'))
    write('package.json', { type: 'module' })
    await run(process.execPath, [join(installed ?? '', script), ...args], { cwd: folder })
    write('use.ts', use)
    const compilerOptions = { ...options, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true }
    write('tsconfig.json', { compilerOptions, files: ['use.ts'] })
    const tsc = resolve('node_modules/typescript/bin/tsc')
    const output = await run(process.execPath, [tsc, '-p', '.'], { cwd: folder }).catch(
      (error: { stdout: string }) => error.stdout,
    )
    expect(typeof output === 'string' ? output : '').toBe('')
  })
}
