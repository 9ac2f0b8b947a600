import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { openTransaction } from '../support/database/migrations.ts'
import { freePort, lacksNginx, startNginx } from '../support/deploy/nginx.ts'
import { type Credentials, type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { readHeader } from '../upgrade/dump.ts'
import { shopUrl } from '../upgrade/records.ts'

// Three nodes of 0.2.0 behind the shipped file of nginx are replaced one by one, under load, while reports elsewhere hold
// the locks that the migrations need: one for long, then one after the other. The former release is taken from the history of this repository.
const fixture = readFileSync('test/upgrade/fixtures/0.2.0.sql', 'utf8')
const { commit, master_key } = readHeader(fixture)
const lacksCommit = spawnSync('git', ['cat-file', '-e', `${commit}^{tree}`]).status !== 0
if (lacksCommit) console.warn(`SKIPPED: this clone has no commit ${commit} with the former release.`)
const isSkipped = lacksNginx || lacksCommit

const longReportMs = 6000 // several tries of a migration
const shortReportMs = 1500
const former = mkdtempSync(join(tmpdir(), 'tollgate-former-'))
const ports: number[] = []
const nodes: GatewayProcess[] = []
let database: FreshDatabase
let receiver: Receiver
let shop: Credentials
let nginx: Awaited<ReturnType<typeof startNginx>>

const environment = (port: number) => ({
  PORT: String(port),
  DATABASE_URL: database.url,
  TOLLGATE_MASTER_KEY: master_key,
  TOLLGATE_BASE_URL: 'https://pay.example',
  TOLLGATE_TRUST_PROXY: '1',
  TOLLGATE_EGRESS_LOOPBACK: 'on',
  TOLLGATE_STOP_SECONDS: '1',
  LOG_LEVEL: 'warn',
})

function formerCommand(...words: string[]): string {
  const env = { ...process.env, ...environment(0) }
  return execFileSync(process.execPath, ['bin/tollgate.js', ...words], { cwd: former, env, encoding: 'utf8' })
}

beforeAll(async () => {
  if (isSkipped) return
  const archive = execFileSync('git', ['archive', commit], { maxBuffer: 2 ** 28 })
  execFileSync('tar', ['-x', '-C', former], { input: archive })
  symlinkSync(resolve('node_modules'), join(former, 'node_modules'))
  receiver = await openReceiver()
  database = await freshDatabase()
  await query(database.url, fixture.replaceAll(`${shopUrl}/`, `${receiver.url}/`))
  const merchant = JSON.parse(formerCommand('merchant', 'add', '--name', 'Load Shop', '--json'))
  formerCommand('merchant', 'set', merchant.merchant_id, 'rate_limit=0', `ipn_url=${receiver.url}/load`)
  shop = merchant.test
  for (let at = 0; at < 3; at++) ports.push(await freePort())
  nodes.push(...(await Promise.all(ports.map(port => spawnGateway(environment(port), former)))))
  nginx = await startNginx(ports.map(port => `127.0.0.1:${port}`))
}, 120_000)
afterAll(async () => {
  if (!isSkipped) {
    await nginx.stop()
    await Promise.all(nodes.map(node => node.kill('SIGTERM')))
    await database.drop()
    await receiver.close()
  }
  rmSync(former, { recursive: true, force: true })
})

type Sent = { invoice_id: string; reference?: string }

const checkPath = (invoice_id: string) =>
  `/v1/gateway/json_status_chk?${new URLSearchParams({ merchant_key: shop.merchant_key, invoice_id }).toString()}`

// A shop that requests payments by mobile money, and checks the status of each.
async function requestPayments(sent: Sent[], failed: string[], isOver: () => boolean) {
  while (!isOver()) {
    const request = signedRequest(shop, {
      generate_checkout_url: undefined,
      pymt_instrument: '0240000000',
      extra_wallet_issuer_hint: 'MTN',
    })
    const one: Sent = { invoice_id: request.invoice_id }
    sent.push(one)
    try {
      const created = await nginx.ask('POST', '/v1/mobile_agents_v2', JSON.stringify(request))
      if (created.http === 200) one.reference = JSON.parse(created.text).tx_reference
      else failed.push(`request ${created.http} ${created.text}`)
      const status = await nginx.ask('GET', checkPath(request.invoice_id))
      if (status.http !== 200) failed.push(`status ${status.http} ${status.text}`)
    } catch (error) {
      failed.push(String(error))
    }
    await sleep(20)
  }
}

// The number of ready nodes, again and again.
async function watchReady(counts: number[], isOver: () => boolean) {
  while (!isOver()) {
    const answers = await Promise.allSettled(ports.map(port => send(`http://127.0.0.1:${port}/readyz`)))
    counts.push(answers.filter(one => one.status === 'fulfilled' && one.value.http === 200).length)
    await sleep(100)
  }
}

// The first ends some time after a migration began to wait for it; the others follow without a pause.
async function holdReports(isOver: () => boolean) {
  const tables = 'select count(*) from payments join attempts using (merchant_id, tx_reference)'
  let report = await openTransaction(database.url, tables)
  const isWaiting = async () =>
    (
      await query(
        database.url,
        `select from pg_stat_activity where application_name = 'tollgate migration'
           and datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
      )
    ).length > 0
  while (!(await isWaiting())) await sleep(100)
  await sleep(longReportMs)
  while (!isOver()) {
    await report.end()
    report = await openTransaction(database.url, tables)
    await sleep(shortReportMs)
  }
  await report.end()
}

// At the address of the one that it replaces.
async function replace(at: number) {
  await nodes[at]?.kill('SIGTERM')
  nodes[at] = await spawnGateway(environment(ports[at] as number))
}

test.skipIf(isSkipped)(
  'nodes of 0.2.0 are replaced one by one: no request fails, and every payment is paid and notified once',
  async () => {
    const sent: Sent[] = []
    const failed: string[] = []
    const ready: number[] = []
    let isOver = false
    const shops = Array.from({ length: 4 }, () => requestPayments(sent, failed, () => isOver))
    const watch = watchReady(ready, () => isOver)
    let isMigrated = false
    const reports = holdReports(() => isMigrated)
    await replace(0)
    isMigrated = true
    await reports
    await replace(1)
    await replace(2)
    await sleep(1000)
    isOver = true
    await Promise.all([...shops, watch])

    assert.match(nodes[0]?.output() ?? '', /waits for process|has to wait for a lock/) // for the reports
    assert.deepEqual(failed, [])
    assert.ok(sent.length > 100, `only ${sent.length} payments were requested`)
    assert.ok(Math.min(...ready) >= 1, 'there was no ready node')
    const paid = async () =>
      (
        await query(
          database.url,
          `select tx_reference from payments where status = 'paid' and tx_reference = any($1)`,
          [sent.map(({ reference }) => reference)],
        )
      ).length
    const deadline = Date.now() + 60_000
    while ((await paid()) < sent.length && Date.now() < deadline) await sleep(200)
    assert.equal(await paid(), sent.length)
    while (sent.some(({ reference = '' }) => !isNotified(reference)) && Date.now() < deadline)
      await sleep(200)
    assert.deepEqual(
      sent.filter(({ reference = '' }) => !isNotified(reference)),
      [],
    )
  },
  180_000,
)

const isNotified = (reference: string) =>
  receiver.received.some(({ path, body }) => path === '/load' && body.includes(reference))
