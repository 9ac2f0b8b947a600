import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { build } from '../../build.js'
import { onboard, type Onboarded } from '../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { mayRead } from '../../src/start/privileges.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { openDb } from '../../src/store/db.ts'
import { newMasterKey, postmasterOf } from '../cli/tollgate.ts'
import { postForm, wallet } from '../support/checkout/stages.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'
import {
  type Answer,
  checkStatus,
  post,
  type Request,
  send,
  signedRequest,
} from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { isRoot, nobody, type User } from '../support/processes/otherUsers.ts'

// TOLLGATE_PROCESSES does not work for root. The test skips if the other user cannot read the program.
let user: User | undefined
const canRun = !isRoot || mayRead(nobody, resolve('bin/tollgate.js'))

const masterKey = newMasterKey()
const customers = 8
const kills = 2

let database: FreshDatabase
let receiver: Receiver
let shop: NonNullable<Onboarded['test']>

beforeAll(async () => {
  await build() // the other user may not write
  database = await migratedDatabase()
  if (isRoot) user = { uid: nobody.uid, gid: groupOfSocket(database.url) ?? nobody.gid }
  receiver = await openReceiver()
  const db = openDb(database.url, 2)
  const masterKeys = givenMasterKeys([Buffer.from(masterKey, 'hex')])
  const merchant = await onboard(db, masterKeys, 'Ama Shop', ['test'], new Date())
  await setMerchant(db, merchant.merchant_id, ['rate_limit=0'])
  await db.end()
  shop = merchant.test as typeof shop
})
afterAll(async () => {
  await receiver.close()
  await database.drop()
})

// Only the members of this group may connect to a database that root has started.
function groupOfSocket(url: string): number | undefined {
  const folder = decodeURIComponent(/[?&]host=([^&]+)/.exec(url)?.[1] ?? '')
  return folder.startsWith('/') ? statSync(folder).gid : undefined
}

async function start(env: Record<string, string> = {}) {
  const gateway = await spawnGateway(
    {
      DATABASE_URL: database.url,
      TOLLGATE_MASTER_KEY: masterKey,
      TOLLGATE_EGRESS_LOOPBACK: 'on',
      TOLLGATE_PROCESSES: '2',
      ...env,
    },
    '.',
    user,
  )
  onTestFinished(() => void gateway.child.kill('SIGKILL'))
  return gateway
}

const childrenOf = (pid: number | undefined) =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, parent, ...args]) => parent === String(pid) && args.some(arg => arg.endsWith('dist/cli.js')))
    .map(([id]) => Number(id))

const processStarts = (gateway: GatewayProcess) => gateway.output().split('"process started"').length - 1
const areAll = (gateway: GatewayProcess, starts: number) =>
  expect.poll(() => processStarts(gateway), { timeout: 60_000 }).toBeGreaterThanOrEqual(starts)

const scrape = async (url: string) => (await send(`${url}/metrics`, { headers: asOperator })).text
const samplesOf = (page: string, name: string, label = '') =>
  page
    .split('\n')
    .filter(line => line.startsWith(`${name}{`) && line.includes(label))
    .map(line => ({
      process: /process="(\d+)"/.exec(line)?.[1],
      value: Number(line.slice(line.lastIndexOf(' '))),
    }))
const total = (samples: { value: number }[]) => samples.reduce((sum, { value }) => sum + value, 0)

// A busy machine may answer 503: the request is sent again.
async function untilServed(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.http !== 503) return answer
  }
}

let initiations = 0 // sent before any process was killed

async function pay(url: string) {
  const request = signedRequest(shop, { ipn_url: `${receiver.url}/ipn` })
  const { body } = await untilServed(() => {
    initiations++
    return post(url, request)
  })
  await untilServed(() => postForm(`${body.checkout_url}/pay`, { number: '1', ...wallet('0240000000') }))
  return body.tx_reference as string
}
const paidAt = (receivedBy: Receiver) =>
  receivedBy.received
    .map(({ body }) => JSON.parse(body))
    .filter(({ status }) => status === 'paid')
    .map(({ tx_reference }) => tx_reference as string)

type Asked = { request: Request; reference?: string } // no reference: not answered

// Sends one payment request after another until it is told to stop, over whatever process fails meanwhile.
async function customer(url: string, asked: Asked[], isOver: () => boolean) {
  while (!isOver()) {
    const one: Asked = { request: signedRequest(shop) }
    asked.push(one)
    const answer = await post(url, one.request).catch(() => undefined)
    if (answer?.http === 200) one.reference = answer.body.tx_reference
  }
}

const stored = async () =>
  new Map(
    (await query(database.url, 'select invoice_id, tx_reference from payments')).map(row => [
      row.invoice_id as string,
      row.tx_reference as string,
    ]),
  )

test.runIf(canRun)(
  'two processes serve one port; killed under load, nothing acknowledged is lost, and each is started again',
  async () => {
    const gateway = await start()
    const { url } = gateway
    await areAll(gateway, 2)

    // Whatever process answers, a test payment reaches the simulated provider, and its notification the shop.
    const references = await Promise.all(Array.from({ length: 8 }, () => pay(url)))
    await expect
      .poll(() => [...new Set(paidAt(receiver))].toSorted(), { timeout: 60_000 })
      .toEqual(references.toSorted())

    // One scrape counts the requests of both.
    const page = await scrape(url)
    const processes = new Set(samplesOf(page, 'process_start_time_seconds').map(({ process }) => process))
    expect(processes).toEqual(new Set(['1', '2']))
    expect(total(samplesOf(page, 'tollgate_http_requests_total', 'route="/v1/mobile_agents_v2"'))).toBe(
      initiations,
    )
    expect(page.match(/^# TYPE tollgate_http_requests_total /gm)).toHaveLength(1)
    expect((await send(`${url}/readyz`)).text).toBe('ready')

    const asked: Asked[] = []
    const answered = () => asked.filter(one => one.reference).length
    let isOver = false
    const load = Promise.all(Array.from({ length: customers }, () => customer(url, asked, () => isOver)))
    for (let kill = 0; kill < kills; kill++) {
      const before = answered()
      await expect.poll(answered).toBeGreaterThan(before + customers)
      const pids = childrenOf(gateway.child.pid)
      const starts = processStarts(gateway)
      const victim = pids[kill % pids.length] as number
      process.kill(victim, 'SIGKILL')
      const atKill = answered()
      await areAll(gateway, starts + 1)
      expect(answered()).toBeGreaterThan(atKill) // by the other one, while this one started
      const now = childrenOf(gateway.child.pid)
      expect(now).toHaveLength(2)
      expect(now).not.toContain(victim)
    }
    isOver = true
    await load

    const { merchant_key } = shop
    const acknowledged = await stored()
    for (const { request, reference } of asked)
      if (reference) expect(acknowledged.get(request.invoice_id)).toBe(reference)
    for (const one of asked.filter(({ reference }) => !reference)) {
      const { http, body } = await untilServed(() => post(url, one.request))
      expect(http).toBe(200)
      expect([undefined, body.tx_reference]).toContain(acknowledged.get(one.request.invoice_id))
    }
    const [last] = asked
    const { body } = await untilServed(() =>
      checkStatus(url, { merchant_key, invoice_id: last?.request.invoice_id ?? '' }),
    )
    expect(body.tx_reference).toBe((await stored()).get(last?.request.invoice_id ?? ''))

    const pids = childrenOf(gateway.child.pid)
    expect(pids).toHaveLength(2)
    await gateway.kill('SIGTERM')
    expect(gateway.child.exitCode).toBe(0)
    expect(gateway.output().match(/"msg":"stopped"/g)).toHaveLength(2) // each gracefully
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  },
)

test.runIf(canRun)(
  'with the embedded database: a killed supervisor takes everything with it, SIGTERM ends everything in order',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-processes-'))
    if (user) chownSync(dataDir, user.uid, user.gid)
    const env = { DATABASE_URL: '', TOLLGATE_MASTER_KEY: '', TOLLGATE_DATA_DIR: dataDir }
    try {
      const killed = await start(env)
      await areAll(killed, 2)
      const ofKilled = [...childrenOf(killed.child.pid), postmasterOf(dataDir) as number]
      expect(ofKilled).toHaveLength(3)
      await killed.kill('SIGKILL') // returns when no process has its standard error any more
      const alive = () => ofKilled.filter(pid => isAlive(pid))
      await expect.poll(alive).toEqual([])

      const stopped = await start(env)
      await areAll(stopped, 2)
      const all = [...childrenOf(stopped.child.pid), postmasterOf(dataDir) as number]
      await stopped.kill('SIGTERM')
      expect(stopped.child.exitCode).toBe(0)
      expect(all.filter(isAlive)).toEqual([])
      expect(postmasterOf(dataDir)).toBeUndefined()
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
)

function isAlive(pid: number) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.runIf(canRun)('a start that fails says why once, with the exit code of one process', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(listening => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  const failure = await start({ PORT: String(port) }).then(
    () => 'started',
    (error: Error) => error.message,
  )
  server.close()
  expect(failure).toContain('the gateway ended with 69')
  expect(failure.match(/is already in use/g)).toHaveLength(1)
})

test.runIf(isRoot)('root is refused, with what to do', async () => {
  const env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: masterKey, TOLLGATE_PROCESSES: '2' }
  await expect(spawnGateway(env)).rejects.toThrow('TOLLGATE_PROCESSES does not work for root')
})
