import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tollgate, tollgateJson } from '../cli/tollgate.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { freePort, lacksNginx, startNginx } from '../support/deploy/nginx.ts'
import { type GatewayProcess, spawnGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { type Load, startLoad } from '../support/merchant/load.ts'
import { masterKeyId } from '../../src/store/merchants/vault.ts'

// The master key is rotated as docs/operations.md has it, on three nodes behind the shipped file of nginx, while customers
// pay and are refunded.
const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
const [oldHex, newHex] = [oldKey.toString('hex'), newKey.toString('hex')]
const both = `${newHex},${oldHex}`
const soon = { timeout: 60_000, interval: 50 }
const ports: number[] = []
const nodes: GatewayProcess[] = []
let database: FreshDatabase
let nginx: Awaited<ReturnType<typeof startNginx>>
let load: Load

const environment = (keys: string, port = 0) => ({
  PORT: String(port),
  DATABASE_URL: database.url,
  TOLLGATE_MASTER_KEY: keys,
  TOLLGATE_BASE_URL: 'https://pay.example',
  TOLLGATE_TRUST_PROXY: '1',
  TOLLGATE_STOP_SECONDS: '1',
  LOG_LEVEL: 'warn',
})

beforeAll(async () => {
  if (lacksNginx) return
  database = await freshDatabase()
  for (let at = 0; at < 3; at++) ports.push(await freePort())
  for (const port of ports) nodes.push(await spawnGateway(environment(oldHex, port)))
  const { data } = await tollgateJson(environment(oldHex), 'merchant', 'add', '--name', 'Load Shop')
  const merchant = data as TestMerchant
  const settings = ['rate_limit=0', 'refunds=on']
  await tollgateJson(environment(oldHex), 'merchant', 'set', merchant.merchant_id, ...settings)
  nginx = await startNginx(ports.map(port => `127.0.0.1:${port}`))
  load = startLoad(nginx.ask, merchant.test, { refunds: true })
}, 120_000)
afterAll(async () => {
  if (lacksNginx) return
  await load.stop()
  await nginx.stop()
  await Promise.all(nodes.map(node => node.kill('SIGTERM')))
  await database.drop()
})

// A restarted node has the address of the one before it.
async function restart(at: number, keys: string) {
  await nodes[at]?.kill('SIGTERM')
  nodes[at] = await spawnGateway(environment(keys, ports[at]))
}

const refunded = () => load.bought.filter(({ refund_id }) => refund_id).length

async function moreIsRefunded() {
  const before = refunded()
  await expect.poll(refunded, soon).toBeGreaterThan(before + 10)
}

const rotate = () => tollgate(environment(both), 'master-key', 'rotate')

test.skipIf(lacksNginx)('no request fails while the master key of three nodes is rotated', async () => {
  await moreIsRefunded()
  await restart(0, both)
  const tooEarly = await rotate()
  expect(tooEarly.stderr).toContain(`These nodes do not have the new key ${masterKeyId(newKey)}`)
  expect(tooEarly.code).toBe(1)
  await restart(1, both)
  await restart(2, both)
  await moreIsRefunded()
  expect(await rotate()).toMatchObject({ code: 0 })
  await moreIsRefunded()
  for (const at of ports.keys()) await restart(at, newHex)
  await moreIsRefunded()
  await load.stop()
  expect(load.failed).toEqual([])
  const keys = await query(
    database.url,
    `select master_key_id from merchants union select master_key_id from installation_secrets`,
  )
  expect(keys).toEqual([{ master_key_id: masterKeyId(newKey) }])
})
