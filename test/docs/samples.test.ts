import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { build } from '../../build.js'
import { bodies } from '../../src/web/openapi/schemas.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, newInvoice, post, signedRequest } from '../support/merchant/merchant.ts'
import { blocksOf, codeUnder } from './blocks.ts'

// Blocks of the documentation that are not programs for a shop: commands of an operator, sources and bodies.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }) // it compiles, and starts the program

const masterKey = '22'.repeat(32)
let gateway: TestGateway
let merchant: Awaited<ReturnType<TestGateway['addMerchant']>>

beforeAll(async () => {
  await build()
  gateway = await testGateway({ TOLLGATE_MASTER_KEY: masterKey })
  merchant = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

// A command of the documentation, in a shell in which `tollgate` is the program.
async function runCommand(command: string, typed = '') {
  const script = `tollgate() { '${process.execPath}' bin/tollgate.js "$@"; }\n${command}`
  const child = spawn('sh', ['-ec', script], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: gateway.databaseUrl,
      TOLLGATE_MASTER_KEY: masterKey,
      TOLLGATE_BASE_URL: 'https://pay.example',
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)))
  child.stdin.end(typed)
  const [code] = await once(child, 'close')
  return { code, output }
}

test.each([
  ['Request a payment', 'allowed_origins'],
  ['Frame or relay the page', 'frame_origins'],
])('the command under "%s" sets %s', async (heading, setting) => {
  const command = codeUnder('docs/interface.md', heading).replace('YOUR-MERCHANT-ID', merchant.merchant_id)
  expect(command).toContain(setting)
  expect(await runCommand(command)).toEqual({ code: 0, output: expect.stringContaining(setting) })
})

test.each([
  [
    'docs/providers/mtn.md',
    [
      '00112233445566778899aabbccddeeff',
      '3b6c1f5e-8f0a-4d6b-9a51-0d0f3f6f2a11',
      'ffeeddccbbaa99887766554433221100',
    ],
  ],
  ['docs/providers/paystack.md', [`sk_test_${'0'.repeat(40)}`]],
])('the command of %s adds an account', async (file, secrets) => {
  const command = codeUnder(file, 'Settings')
  const { code, output } = await runCommand(command, `${secrets.join('\n')}\n`)
  expect(code, output).toBe(0)
  for (const secret of secrets) expect(output).not.toContain(secret)
})

test('the line items of the page are accepted', async () => {
  const { total, line_items } = JSON.parse(`{${codeUnder('docs/interface.md', 'Line items')}}`)
  const shop = await gateway.addMerchant()
  const { body } = await post(gateway.url, { ...signedRequest(shop.test, { total }), line_items })
  expect(body).toMatchObject({ success: true, status: 'new' })
})

test('the answer of the status check has the form that the page shows', async () => {
  const page = JSON.parse(codeUnder('docs/interface.md', 'Check the status'))
  const { '...': _further, 'AMA-1042': keyed, ...flat } = page
  const invoice_id = newInvoice()
  const shop = await gateway.addMerchant()
  const { merchant_key } = shop.test
  await post(gateway.url, signedRequest(shop.test, { invoice_id, total: '25.00' }))
  const { body } = await checkStatus(gateway.url, { merchant_key, invoice_id })
  expect(bodies.StatusAnswer.parse(body)).toEqual(body)
  expect(Object.keys(body)[0]).toBe(invoice_id)
  expect(body).toMatchObject(flat)
  const { '...': _more, ...record } = keyed
  expect(body[invoice_id]).toMatchObject(record)
})

// The functions that the reader writes.
const unwritten: Record<string, string> = {
  'docs/providers.md': `
declare function startAt(...args: unknown[]): ReturnType<ProviderAccount['start']>
declare function checkAt(...args: unknown[]): ReturnType<ProviderAccount['check']>`,
  'docs/messengers.md': `
import type { Messenger } from '../core/message/messenger.ts'
declare function openClient(...args: unknown[]): Pick<Messenger, 'send' | 'close'>`,
}

test.each([
  ['docs/providers.md', 'src/providers'],
  ['docs/messengers.md', 'src/messengers'],
])('the source in %s compiles', async (file, folder) => {
  const { code = '' } = blocksOf(file).find(({ language }) => language === 'ts') ?? {}
  expect(await compile(code + unwritten[file], folder)).toBe('')
  expect(
    await compile(code.replace('medium:', 'media:').replace('methods:', 'ways:') + unwritten[file], folder),
  ).toMatch(/error TS/)
})

// Compiles a source as if it were in a folder of the repository.
async function compile(code: string, folder: string) {
  const place = mkdtempSync(join(tmpdir(), 'tollgate-source-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const atHome = code.replaceAll(/(from ')(\.[^']+)/g, (_, start, path) => start + resolve(folder, path))
  writeFileSync(join(place, 'acme.ts'), atHome)
  writeFileSync(join(place, 'package.json'), '{"type":"module"}')
  const compilerOptions = { typeRoots: [resolve('node_modules/@types')], noUnusedLocals: false }
  writeFileSync(
    join(place, 'tsconfig.json'),
    JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, include: [], files: ['acme.ts'] }),
  )
  const tsc = [resolve('node_modules/typescript/bin/tsc'), '-p', place]
  return promisify(execFile)(process.execPath, tsc).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
}

test.each([
  [0, 'src/core/money.ts'],
  [1, 'src/store/merchants/merchants.ts'],
  [2, 'src/web/api/initiate.tsx'],
  [3, 'test/core/money.test.ts'],
])('block %i of the style in CONTRIBUTING.md quotes %s', (at, file) => {
  const source = readFileSync(file, 'utf8').split('\n')
  let from = 0 // lines may be left out
  for (const line of codeUnder('CONTRIBUTING.md', 'Style', at).trim().split('\n')) {
    const found = source.indexOf(line, from)
    expect(found, line).not.toBe(-1)
    from = found + 1
  }
})
