import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isPrivate, mark, nobodyUser } from '../../src/postgres/user.ts'
import { dropPrivileges, userToBecome } from '../../src/start/privileges.ts'
import { newMasterKey, postmasterOf, tollgate, tollgateJson } from '../cli/tollgate.ts'
import { openMailServer } from '../messengers/mailServer.ts'
import { makeCertificate } from '../net/certificate.ts'
import { afterFile } from '../support/vitest/afterFile.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { asOperator, operatorToken } from '../support/gateway/operatorAuth.ts'
import { checkStatus, post, send, signedQuestion, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { isRoot, onlyRoot } from '../support/processes/otherUsers.ts'

vi.setConfig({ testTimeout: 120_000 }) // each starts a whole gateway, with PostgreSQL

// As in root's home: no other user may enter, so neither code nor data can be reached by a path.
const closed = mkdtempSync('/tmp/tollgate-closed-') // mode 0700
const program = join(closed, 'project', 'bin', 'tollgate.js')
const dataDir = join(closed, 'data')
symlinkSync(process.cwd(), join(closed, 'project'))
afterFile(() => rmSync(closed, { recursive: true, force: true }))

type Started = {
  child: ChildProcess
  pid: number
  url: string
  line: Record<string, string>
  output(): string
  ended: Promise<number | null>
}

// Modules are found by the path below the closed folder, not by the one that the link leads to.
const inClosedFolder = ['--preserve-symlinks', '--preserve-symlinks-main']

function spawnStart(env: Record<string, string>) {
  const child = spawn(process.execPath, [...inClosedFolder, program, 'start', '--json'], {
    env: { PATH: process.env.PATH, HOME: closed, PORT: '0', TOLLGATE_STOP_SECONDS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  afterFile(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  child.stderr.on('data', chunk => (stderr += String(chunk)))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, ended, stdout: () => stdout, output: () => stdout + stderr }
}

async function start(env: Record<string, string>): Promise<Started> {
  const { child, ended, stdout, output } = spawnStart(env)
  const over = ended.then(code => Promise.reject(new Error(`ended with ${code}: ${output()}`)))
  over.catch(() => {})
  while (!stdout().includes('\n'))
    await Promise.race([over, once(child.stdout as NodeJS.EventEmitter, 'data')])
  const line = JSON.parse(stdout())
  return { child, pid: child.pid as number, url: line.url, line, output, ended }
}

const refusal = async (env: Record<string, string>) => {
  const { ended, output } = spawnStart({ LOG_LEVEL: 'silent', ...env })
  const code = await ended
  const said = output()
    .split('\n')
    .find(line => line.startsWith('{"error"'))
  if (!said) throw new Error(`ended with ${code}: ${output()}`)
  return { code, message: JSON.parse(said).error.message }
}

function stop({ child, ended }: Started, signal: NodeJS.Signals = 'SIGTERM') {
  child.kill(signal)
  return ended
}

const statuses = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).map(thread => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
const fieldOf = (status: string, name: string) =>
  new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(status)?.[1]
const userOf = (pid: number) =>
  Number(fieldOf(readFileSync(`/proc/${pid}/status`, 'utf8'), 'Uid')?.split('\t')[0])
function isRunning(pid: number): boolean {
  try {
    return fieldOf(readFileSync(`/proc/${pid}/status`, 'utf8'), 'State')?.[0] !== 'Z'
  } catch {
    return false
  }
}

function expectDropped(pid: number) {
  const uid = userOf(pid)
  expect(uid).not.toBe(0)
  expect(uid).not.toBe(nobodyUser.uid)
  expect(isPrivate(uid)).toBe(false) // a user of the database
  const threads = statuses(pid)
  expect(threads.length).toBeGreaterThan(4)
  for (const status of threads) {
    expect(fieldOf(status, 'Uid')).toBe([uid, uid, uid, uid].join('\t'))
    expect(fieldOf(status, 'Gid')).toBe([uid, uid, uid, uid].join('\t'))
    expect(fieldOf(status, 'Groups')).toBe('')
    for (const set of ['CapEff', 'CapPrm', 'CapAmb']) expect(fieldOf(status, set)).toMatch(/^0+$/)
  }
}

// With a number that the simulated provider approves by itself.
async function pay(checkoutUrl: string) {
  const page = await send(checkoutUrl)
  expect(page.http).toBe(200)
  const action = /<form method="post" id="pay" action="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const body = new URLSearchParams({
    number: '1',
    payment_method: 'mtn_mobile_money',
    'mtn_mobile_money.phone': '0240000000',
  })
  expect((await send(new URL(action, checkoutUrl).href, { method: 'POST', body })).http).toBe(303)
}

let receiver: Receiver
beforeAll(async () => void (receiver = await openReceiver()))
afterAll(() => receiver.close())

let keys: { merchant_key: string; secret_key: string }

async function expectPaymentToWork(url: string) {
  const request = signedRequest(keys, { ipn_url: `${receiver.url}/ipn`, email: 'ama@example.com' })
  const { body } = await post(url, request)
  expect(body).toMatchObject({ success: true })
  await pay(body.checkout_url)
  const status = async () => (await checkStatus(url, signedQuestion(keys, request.invoice_id))).body.status
  await expect.poll(status, { timeout: 30_000 }).toBe('paid')
  await expect.poll(() => receiver.of(body.tx_reference).length, { timeout: 30_000 }).toBeGreaterThan(0)
}

const env: Record<string, string> = { TOLLGATE_DATA_DIR: dataDir, TOLLGATE_SUPPORT_TOKEN: operatorToken }
let gateway: Started

test('a gateway that root starts runs as a dedicated user, without groups or capabilities', async context => {
  onlyRoot(context)
  const mail = await openMailServer()
  afterFile(() => mail.stop())
  // A certificate that only root can read is read before root privileges are dropped.
  writeFileSync(join(closed, 'ca.pem'), certificate(), { mode: 0o600 })
  Object.assign(env, {
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    SMTP_FROM: 'pay@shop.example.com',
    SMTP_TLS_CA: join(closed, 'ca.pem'),
    NODE_EXTRA_CA_CERTS: join(closed, 'ca.pem'),
  })
  gateway = await start(env)
  keys = gateway.line as typeof keys
  expectDropped(gateway.pid)
  expect(gateway.output()).not.toContain('extra certs') // Node's warning about a file that it cannot read
  expect(userOf(postmasterOf(dataDir) ?? 0)).not.toBe(userOf(gateway.pid))
  await expectPaymentToWork(gateway.url)
  await expect.poll(() => mail.taken.length, { timeout: 30_000 }).toBeGreaterThan(0)
})

const served = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/support',
  '/inbox',
  '/sandbox/phone',
  '/docs',
  '/docs?q=signature',
  '/docs/interface',
  '/docs/api/initiatePayment',
  '/docs/docs.css',
  '/docs/pictures/life.svg',
  '/llms.txt',
  '/public/checkout.css',
  '/public/checkout.js',
  '/support/support.css',
  '/inbox/inbox.css',
  '/sandbox/public/sandbox.css',
]

test('every kind of page and file is served from code that the user of the gateway cannot read', async context => {
  onlyRoot(context)
  for (const path of served)
    expect([path, (await send(`${gateway.url}${path}`, { headers: asOperator })).http]).toEqual([path, 200])
  expect((await send(`${gateway.url}/nothing`)).http).toBe(404)
})

test('commands of root work beside it, and it follows a new master key', async context => {
  onlyRoot(context)
  const folder = { TOLLGATE_DATA_DIR: dataDir }
  const { code, stdout } = await tollgate(folder, 'master-key', 'rotate', '--forget-old')
  expect([code, stdout]).toEqual([0, expect.stringContaining('The old keys are forgotten.')])
  // A new merchant is sealed with a key that the gateway has not seen.
  const { data } = await tollgateJson(folder, 'merchant', 'add', '--name', 'Esi Shop')
  keys = data.test
  await expectPaymentToWork(gateway.url)
  const { data: doctor } = await tollgateJson(folder, 'doctor')
  const checks = Object.fromEntries(doctor.checks.map((one: { check: string }) => [one.check, one]))
  expect(checks['data folder']).toMatchObject({ state: 'ok' })
  expect(checks['master key']).toMatchObject({ state: 'ok' })
  expect(checks.user).toMatchObject({
    state: 'ok',
    fact: expect.stringContaining(`user ${userOf(gateway.pid)}`),
  })
})

const rightsOf = (path: string) => {
  const { uid, gid, mode } = lstatSync(path)
  return [uid, gid, mode & 0o777]
}

test('what it needs is open to its group alone, and only root may change it', context => {
  onlyRoot(context)
  const gid = userOf(gateway.pid)
  const sockets = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[4] ?? ''
  expect(rightsOf(dataDir)).toEqual([0, gid, 0o710])
  expect(rightsOf(join(dataDir, 'master.key'))).toEqual([0, gid, 0o640])
  expect(rightsOf(sockets)).toEqual([statSync(join(dataDir, 'postgres')).uid, gid, 0o710])
  for (const name of ['postgres.pgpass', 'postgres.log'])
    expect(rightsOf(join(dataDir, name))).toEqual([0, 0, 0o600])
})

test('another process of the same user cannot read its memory or its environment, nor start its debugger', async context => {
  onlyRoot(context)
  const { pid } = gateway
  const uid = userOf(pid)
  const script = `
    const fs = require('node:fs')
    const attempt = work => { try { work(); return 'done' } catch (error) { return error.code } }
    const read = name => attempt(() => fs.readFileSync('/proc/${pid}/' + name))
    console.log(JSON.stringify([
      read('environ'), read('maps'), attempt(() => fs.openSync('/proc/${pid}/mem')), attempt(() => fs.readdirSync('/proc/${pid}/fd')),
      attempt(() => process.kill(${pid}, 'SIGUSR1')),
    ]))`
  const options = { uid, gid: uid, cwd: '/', env: mark, encoding: 'utf8' } as const
  const { stdout } = spawnSync(process.execPath, ['-e', script], options)
  const [environ, maps, mem, fd, signalled] = JSON.parse(stdout)
  for (const found of [environ, maps, mem, fd]) expect(found).toMatch(/^(EACCES|EPERM)$/)
  expect(signalled).toBe('done')
  expect((await send(`${gateway.url}/readyz`)).http).toBe(200)
  expect(gateway.output()).not.toContain('Debugger listening')
})

// Four numbers would not be enough for the gateways of one machine.
test('a second gateway that root starts beside it becomes the same user', async context => {
  onlyRoot(context)
  const second = await start({ TOLLGATE_DATA_DIR: join(closed, 'second') })
  expect(userOf(second.pid)).toBe(userOf(gateway.pid))
  expect((await send(`${second.url}/readyz`)).http).toBe(200)
  expect(await stop(second)).toBe(0)
})

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')
const childrenOf = (parent: number) =>
  readdirSync('/proc')
    .map(Number)
    .filter(pid => pid > 0 && parentOf(pid) === parent)

function parentOf(pid: number): number | undefined {
  try {
    return Number(fieldOf(readFileSync(`/proc/${pid}/status`, 'utf8'), 'PPid'))
  } catch {
    return undefined // it has ended
  }
}

test('PostgreSQL restarts after the crash of a backend, and payments go on', async context => {
  onlyRoot(context)
  const postmaster = postmasterOf(dataDir) as number
  const before = childrenOf(postmaster)
  const backend = before.find(pid => commandOf(pid).includes('tollgate_app')) as number
  process.kill(backend, 'SIGKILL')
  await expect.poll(() => before.some(isRunning), { timeout: 30_000 }).toBe(false)
  const isReady = async () => (await send(`${gateway.url}/readyz`)).http
  await expect.poll(isReady, { timeout: 30_000 }).toBe(200)
  expect(postmasterOf(dataDir)).toBe(postmaster)
  await expectPaymentToWork(gateway.url)
})

test('it stops its PostgreSQL in good order', async context => {
  onlyRoot(context)
  const postmaster = postmasterOf(dataDir) as number
  const sockets = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[4] ?? ''
  expect(await stop(gateway)).toBe(0)
  expect(isRunning(postmaster)).toBe(false)
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  expect(existsSync(sockets)).toBe(false)
  expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8').trim()).toMatch(/database system is shut down$/)
})

test('a data folder of a version that stayed root is opened to it, and kill -9 ends its PostgreSQL too', async context => {
  onlyRoot(context)
  for (const [path, mode] of [
    [dataDir, 0o700],
    [join(dataDir, 'master.key'), 0o600],
  ] as const) {
    chownSync(path, 0, 0)
    chmodSync(path, mode)
  }
  gateway = await start(env)
  expectDropped(gateway.pid)
  const postmaster = postmasterOf(dataDir) as number
  await stop(gateway, 'SIGKILL')
  await expect.poll(() => isRunning(postmaster), { timeout: 30_000 }).toBe(false)
})

test('after kill -9 of everything the next start recovers; when its PostgreSQL ends, it logs that and exits with 69', async context => {
  onlyRoot(context)
  gateway = await start(env)
  process.kill(postmasterOf(dataDir) as number, 'SIGKILL')
  gateway.child.kill('SIGKILL')
  await gateway.ended
  gateway = await start(env)
  expectDropped(gateway.pid)
  await expectPaymentToWork(gateway.url)
  process.kill(postmasterOf(dataDir) as number, 'SIGKILL')
  expect(await gateway.ended).toBe(69)
  expect(gateway.output()).toContain('PostgreSQL ended by itself (signal SIGKILL): ')
})

let database: FreshDatabase
const keyFolder = join(closed, 'keys')
beforeAll(async () => {
  database = await migratedDatabase()
  mkdirSync(keyFolder, { mode: 0o700 })
  writeFileSync(join(keyFolder, 'master.key'), `${newMasterKey()}\n`, { mode: 0o600 })
})
afterAll(() => database.drop())

test('with DATABASE_URL root becomes the same user, and a master.key that only root can read is enough', async context => {
  onlyRoot(context)
  const settings = { DATABASE_URL: database.url, TOLLGATE_DATA_DIR: keyFolder }
  const { data } = await tollgateJson(settings, 'merchant', 'add', '--name', 'Ama Shop')
  keys = data.test
  const node = await start({ ...settings, TOLLGATE_EGRESS_LOOPBACK: 'on' })
  expectDropped(node.pid)
  await expectPaymentToWork(node.url)
  expect(statSync(join(keyFolder, 'master.key')).mode & 0o777).toBe(0o600) // the operator's file stays as it is
  expect(await stop(node, 'SIGINT')).toBe(0)
})

for (const [what, change, words] of [
  [
    'a certificate that only root can read',
    (url: string) =>
      `${url.replace('sslmode=disable', '')}&sslrootcert=${join(closed, 'db-ca.pem')}&sslmode=disable`,
    /^The file .*db-ca\.pem \(sslrootcert in DATABASE_URL\) cannot be read by user \d+, .* start Tollgate as an ordinary user/,
  ],
  [
    'a password that only root can read',
    (url: string) => url.replace(/:[0-9a-f]{64}@/, '@'),
    /^The database accepts no new connection from user \d+, .*DATABASE_URL must hold the password itself/,
  ],
] as const)
  test(`with DATABASE_URL and ${what}, start exits and says how to fix it`, async context => {
    onlyRoot(context)
    writeFileSync(join(closed, 'db-ca.pem'), certificate(), { mode: 0o600 })
    const password = /:([0-9a-f]{64})@/.exec(database.url)?.[1]
    writeFileSync(join(closed, '.pgpass'), `*:*:*:tollgate_app:${password}\n`, { mode: 0o600 })
    const { code, message } = await refusal({
      DATABASE_URL: change(database.url),
      TOLLGATE_DATA_DIR: keyFolder,
      PGPASSFILE: join(closed, '.pgpass'),
    })
    expect(message).toMatch(words)
    expect(code).toBe(69)
  })

test('root without the right to become another user gets the advice to start it as an ordinary user', async context => {
  onlyRoot(context)
  if (spawnSync('setpriv', ['--version']).status !== 0) context.skip('SKIPPED: there is no setpriv here')
  const script = `import('${process.cwd()}/dist/start/privileges.js').then(m => m.dropPrivileges({ uid: 65524, gid: 65524 })).catch(e => console.log(e.message))`
  const { stdout } = spawnSync('setpriv', ['--bounding-set=-setuid', process.execPath, '-e', script], {
    encoding: 'utf8',
  })
  expect(stdout).toMatch(
    /^The gateway does not serve as root, and may not become user 65524 \(.*EPERM.*\)\. Start Tollgate as an ordinary user/,
  )
})

test('an ordinary user stays who he is', context => {
  if (isRoot) context.skip('SKIPPED: this is root')
  expect(userToBecome()).toBeUndefined()
  expect(() => dropPrivileges({ uid: 65_524, gid: 65_524 })).toThrow(/may not become user 65524/)
})

function certificate(): string {
  return makeCertificate('127.0.0.1').cert
}
