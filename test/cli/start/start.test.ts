import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { checkStatus, post } from '../../support/merchant/merchant.ts'
import {
  fatalIn,
  launch,
  postmasterOf,
  type Running,
  spawnProgram,
  temporaryFolder,
  tollgate,
  tollgateJson,
} from '../tollgate.ts'

vi.setConfig({ testTimeout: 120_000 }) // each starts a whole gateway, with PostgreSQL

// One data folder, from its first start on. The tests build on each other.
const dataDir = join(temporaryFolder(), 'data')
const env = { TOLLGATE_DATA_DIR: dataDir, PORT: '0' }
let gateway: Running
let first: { merchant_key: string; secret_key: string; invoice_id: string }

const isRunning = (pid: number | undefined) => existsSync(`/proc/${pid}`)
const urlIn = (text: string) => /Checkout and API +(\S+)/.exec(text)?.[1] ?? ''
const value = (text: string, name: string) => new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(text)?.[1] ?? ''

// The commands in a banner: from "curl" to the end of the paragraph.
const curlsIn = (text: string) => [...text.matchAll(/^curl [\s\S]*?(?=\n\n)/gm)].map(match => match[0])
const paste = (text: string) => JSON.parse(spawnSync('sh', ['-c', text], { encoding: 'utf8' }).stdout)
const hasScript = spawnSync('script', ['--version']).status === 0
const hasCurl = spawnSync('curl', ['--version']).status === 0

async function stopped(running: Running, signal: NodeJS.Signals = 'SIGINT') {
  const postmaster = postmasterOf(dataDir)
  running.child.kill(signal)
  const ran = await running.ended
  expect(isRunning(postmaster)).toBe(false)
  return ran
}

test('the first start prints the addresses, the demo keys and commands to paste', async () => {
  gateway = launch(env, 'start')
  await gateway.says('Ctrl-C stops it.')
  const banner = gateway.stdout()
  const url = urlIn(banner)
  for (const [path, http] of [
    ['/docs', 200],
    ['/healthz', 200],
    ['/support', 401],
    ['/inbox', 401],
    ['/metrics', 403],
  ] as const) {
    expect(banner).toContain(`   ${url}${path}\n`)
    expect((await fetch(`${url}${path}`)).status).toBe(http)
  }
  expect(banner).toContain('npx tollgate support link')
  expect(banner).not.toContain('/support/enter') // this is no terminal
  expect(banner).toContain(dataDir)
  expect(banner).not.toContain('\x1b')
  first = {
    merchant_key: value(banner, 'merchant_key'),
    secret_key: value(banner, 'secret_key'),
    invoice_id: /"invoice_id": "([^"]+)"/.exec(banner)?.[1] ?? '',
  }
  expect(first.merchant_key).toMatch(/^tk_/)
  expect(first.secret_key).toMatch(/^[0-9a-f]{64}$/)
  expect(curlsIn(banner)).toHaveLength(2)
})

test('the printed curl commands work when pasted', async context => {
  if (!hasCurl) context.skip('SKIPPED: there is no curl here; the next test replays the request without it')
  const [payment = '', status = ''] = curlsIn(gateway.stdout())
  const answer = paste(payment)
  expect(answer).toMatchObject({ success: true, status: 'new', invoice_id: first.invoice_id })
  expect((await fetch(answer.checkout_url)).status).toBe(200)
  expect(paste(status)).toMatchObject({ status: 'awaiting_payment', amount: 25, tran_type: 'test' })
})

test('the printed request has a valid signature', async () => {
  const [payment = ''] = curlsIn(gateway.stdout())
  const body = payment.slice(payment.indexOf('{'), payment.lastIndexOf('}') + 1)
  expect((await post(urlIn(gateway.stdout()), body)).http).toBe(200)
})

test('the log is JSON on standard error, without the banner', () => {
  const lines = gateway.stderr().trim().split('\n')
  expect(lines.map(line => JSON.parse(line).msg)).toContain('listening')
  expect(gateway.stderr()).not.toContain(first.secret_key)
})

test('commands work beside the running gateway, on the same data folder', async () => {
  const { code, data } = await tollgateJson(env, 'merchant', 'list')
  expect(code).toBe(0)
  expect(data.merchants).toMatchObject([{ merchant_id: 'demoshop00', name: 'Demo Shop', active: true }])
  expect((await tollgate(env, 'payment', 'show', first.invoice_id)).stdout).toContain('GHS 25.00')
  expect((await tollgate(env, 'migrate')).stdout).toBe('The database is up to date.\n')
})

test('a link from the command signs a browser in beside the running gateway', async () => {
  const url = urlIn(gateway.stdout())
  const { code, data } = await tollgateJson({ ...env, PORT: new URL(url).port }, 'support', 'link')
  expect(code).toBe(0)
  expect(data.link).toMatch(new RegExp(`^${url}/support/enter\\?link=[\\w-]{22}$`))
  const entered = await fetch(data.link, { redirect: 'manual' })
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/dashboard/first-visit'])
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  for (const path of ['/support', '/inbox', '/metrics'])
    expect([path, (await fetch(url + path, { headers: { cookie } })).status]).toEqual([path, 200])
  const { stdout } = await tollgate(env, 'support', 'token')
  const authorization = `Bearer ${stdout.trim()}`
  expect((await fetch(`${url}/metrics`, { headers: { authorization } })).status).toBe(200)
})

test('a second gateway on the same data folder is refused in one sentence', async () => {
  const [plain, json] = await Promise.all([tollgate(env, 'start'), tollgateJson(env, 'start')])
  expect([plain.code, plain.stdout]).toEqual([69, ''])
  expect(plain.stderr).toBe(
    `Another Tollgate (process ${gateway.child.pid}) is already running on the data folder ${dataDir}. ` +
      'Stop it first, or choose another TOLLGATE_DATA_DIR.\n',
  )
  expect(json).toMatchObject({ code: 69, error: { code: 'unavailable' } })
})

test('Ctrl-C stops the gateway and its PostgreSQL, and ends with 0', async () => {
  const { code, stderr } = await stopped(gateway)
  expect(code).toBe(0)
  expect(stderr.trim().split('\n').at(-1)).toContain('"stopped"')
})

test('commands work alone on the data folder, and leave nothing running', async () => {
  const { code, data } = await tollgateJson(env, 'payment', 'list')
  expect(code).toBe(0)
  expect(data.payments).toMatchObject([{ invoice_id: first.invoice_id }])
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
})

test('a port in use is reported in one sentence, and PostgreSQL is stopped', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address ? String(address.port) : ''
  const { code, stdout, stderr } = await tollgate({ ...env, PORT: port, LOG_LEVEL: 'silent' }, 'start')
  other.close()
  expect([code, stdout]).toEqual([69, ''])
  expect(stderr).toBe(
    `Port ${port} on 127.0.0.1 is already in use: stop the program that uses it, or set PORT to another.\n`,
  )
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
})

test('a HOST that is not an address of this machine is reported with its name', async () => {
  const { code, stderr } = await tollgate({ ...env, HOST: '203.0.113.7', LOG_LEVEL: 'silent' }, 'start')
  expect([code, stderr]).toEqual([69, 'HOST: 203.0.113.7 is not an address of this machine.\n'])
})

test('the second start finds everything, and does not show the secret', async () => {
  gateway = launch(env, 'start')
  await gateway.says('Ctrl-C stops it.')
  const banner = gateway.stdout()
  expect(value(banner, 'merchant_key')).toBe(first.merchant_key)
  expect(banner).toContain('npx tollgate key rotate --merchant demoshop00')
  expect(banner).not.toContain(first.secret_key)
  const question = { merchant_key: first.merchant_key, invoice_id: first.invoice_id }
  expect((await checkStatus(urlIn(banner), question)).body).toMatchObject({ status: 'awaiting_payment' })
  const { data } = await tollgateJson(env, 'key', 'rotate', '--merchant', 'demoshop00', '--overlap', '0')
  expect((await stopped(gateway, 'SIGTERM')).code).toBe(0)
  first.merchant_key = data.merchant_key
})

test('start --json prints one line, with the newest key and a request to try', async () => {
  gateway = launch({ ...env, TOLLGATE_BASE_URL: 'https://pay.example/' }, 'start', '--json')
  await gateway.says('\n')
  const line = JSON.parse(gateway.stdout())
  expect(line).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    base_url: 'https://pay.example',
    dashboard_url: 'https://pay.example',
    data_dir: dataDir,
    merchant_key: first.merchant_key,
    request: expect.objectContaining({ merchant_key: first.merchant_key, total: '25.00' }),
  })
  const { http, body } = await post(line.url, line.request)
  expect(http).toBe(200)
  expect(body.checkout_url).toMatch(/^https:\/\/pay\.example\/checkout\//)
})

test('if its PostgreSQL dies the gateway logs it and exits with 69', async () => {
  const note = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(note[0]), 'SIGKILL')
  const { code, stderr } = await gateway.ended
  expect(code).toBe(69)
  const last = fatalIn(stderr)
  expect(last).toMatchObject({ level: 'fatal', msg: expect.stringMatching(/^PostgreSQL ended by itself/) })
  await expect.poll(() => existsSync(note[4] ?? ''), { timeout: 10_000 }).toBe(false) // where its socket was
})

test('a stop during the start takes effect', async () => {
  const leftBehind = postmasterOf(dataDir)
  gateway = launch(env, 'start')
  while ([undefined, leftBehind].includes(postmasterOf(dataDir))) await sleep(10)
  gateway.child.kill('SIGINT')
  await sleep(100)
  gateway.child.kill('SIGINT') // as npm does: the same Ctrl-C, passed on
  const { code, stdout } = await gateway.ended
  expect([code, stdout]).toEqual([0, ''])
})

test('on a terminal the start shows a link that signs in with one click', async context => {
  if (!hasScript) context.skip('SKIPPED: there is no script(1) here, which makes a terminal')
  const words = `exec '${process.execPath}' bin/tollgate.js start`
  gateway = spawnProgram('script', ['-qec', words, '/dev/null'], { ...env, NO_COLOR: '1' })
  await gateway.says('Ctrl-C stops it.')
  const [link = '', ...others] = gateway.stdout().match(/http\S+\/support\/enter\?link=[\w-]{22}/g) ?? []
  expect(others).toEqual([])
  const entered = await fetch(link, { redirect: 'manual' })
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/dashboard/first-visit'])
  expect((await fetch(link, { redirect: 'manual' })).status).toBe(403) // once
  await stopped(gateway, 'SIGTERM')
})
