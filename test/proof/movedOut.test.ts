import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { addressOfUrl } from '../../src/start/machine.ts'
import { backupTables } from '../../src/store/backups/backupTables.ts'
import { migrationNames } from '../../src/store/migrate/migrationList.ts'
import { type Env, tollgate, tollgateJson } from '../cli/tollgate.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'
import { type Credentials, spawnGateway } from '../support/gateway/gateway.ts'
import { checkPath, mobileMoney } from '../support/merchant/load.ts'
import { post, send } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { type Moment, runKilled } from '../support/processes/killedCommand.ts'

// An installation leaves its private PostgreSQL for another server, with kill -9 of `tollgate move` at one step after the
// other. The command starts the private PostgreSQL, so a killed one leaves it running.
const base = mkdtempSync(join(tmpdir(), 'tollgate-moved-'))
const env: Env = { TOLLGATE_DATA_DIR: join(base, 'data'), TOLLGATE_EGRESS_LOOPBACK: 'on', LOG_LEVEL: 'warn' }
const soon = { timeout: 60_000, interval: 100 }

let receiver: Receiver
let shop: Credentials
let invoice_id: string // of a payment that is paid, and whose notification is due
let notificationId: string
let target: FreshDatabase
let route: PostgresProxy // to the target

beforeAll(async () => {
  receiver = await openReceiver((_request, response) => void response.writeHead(500).end())
  const gateway = await spawnGateway({ ...env })
  const { data } = await tollgateJson(env, 'merchant', 'add', '--name', 'Ama Shop')
  shop = data.test
  await tollgateJson(env, 'merchant', 'set', data.merchant_id, `ipn_url=${receiver.url}/ipn`)
  const { http, body } = await post(gateway.url, mobileMoney(shop, '0240000000'))
  expect(http).toBe(200)
  invoice_id = String(body.invoice_id)
  await vi.waitUntil(() => receiver.received.length > 0, soon)
  notificationId = receiver.received[0]?.id ?? ''
  await gateway.kill('SIGTERM')
  target = await freshDatabase()
  route = await startPostgresProxy(target.url)
}, 120_000)
afterAll(async () => {
  await route.stop()
  await target.drop()
  await receiver.close()
  rmSync(base, { recursive: true, force: true })
})

async function onPrivate<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = await startEmbedded(join(base, 'data'), 'command')
  try {
    return await work(server.url)
  } finally {
    await server.stop()
  }
}

const tables = backupTables(migrationNames()).filter(name => !/^(installation|audit_entries)/.test(name))
const contentOf = async (url: string) => {
  const digests = []
  for (const name of tables)
    digests.push([
      name,
      await query(url, `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${name} t`),
    ])
  return digests
}
const stateOf = async (url: string) =>
  (await query(url, 'select state, moved_to from installation').catch(() => []))[0]
const states = async () => [(await onPrivate(stateOf)).state, (await stateOf(target.url)).state]

test('a move to another server is killed at each step, and run again until it is whole', async () => {
  const before = await onPrivate(contentOf)
  const moments: [Moment, [private_: string, other: string]][] = [
    [{ at: /^copy "payments"/, is: 'unsent' }, ['original', 'copy']],
    [{ at: /^commit$/, after: /^copy /, is: 'done' }, ['original', 'copy']],
    [{ at: /state = 'original', reason = ''/, is: 'unsent' }, ['moved', 'copy']],
  ]
  for (const [moment, expected] of moments) {
    await runKilled(route, moment, env, 'move', '--to', route.url)
    expect([String(moment.at), await states()]).toEqual([String(moment.at), expected]) // never both the real one
  }
  const { code, error, data } = await tollgateJson(env, 'move', '--to', route.url)
  expect([code, error]).toEqual([0, undefined])
  expect(data.tables).toContainEqual({ name: 'payments', rows: 1 })
  expect(await states()).toEqual(['moved', 'original'])
  expect(await contentOf(target.url)).toEqual(before)
  expect(await onPrivate(contentOf)).toEqual(before)
})

test('a gateway does not start on the private database again, and names the other one', async () => {
  const { code, stderr } = await tollgate(env, 'start')
  expect(code).not.toBe(0)
  expect(stderr).toContain(`were moved to ${addressOfUrl(route.url)}. Set DATABASE_URL`)
})

test('a gateway on the other server goes on, with the master key of the data folder', async () => {
  receiver.answerWith((_request, response) => void response.end('ok'))
  receiver.received.length = 0
  await query(target.url, 'update deliveries set next_try_at = now() where next_try_at is not null')
  const external = { ...env, DATABASE_URL: route.url }
  const gateway = await spawnGateway(external)
  try {
    expect((await send(`${gateway.url}/readyz`)).http).toBe(200)
    await expect.poll(() => receiver.received.map(({ id }) => id), soon).toEqual([notificationId])
    expect((await send(gateway.url + checkPath(shop, invoice_id))).body.status).toBe('paid')
    expect((await post(gateway.url, mobileMoney(shop, '0240000000'))).http).toBe(200)
    for (const name of ['ledger', 'audit'])
      expect((await tollgateJson(external, name, 'verify')).code).toBe(0)
  } finally {
    await gateway.kill('SIGTERM')
  }
})
