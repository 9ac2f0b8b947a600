import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'

let gateway: TestGateway
let shop: TestMerchant
let holder: Client

beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_POOL_SIZE: '10' })
  shop = await gateway.addMerchant()
  await post(gateway.url, signedRequest(shop.test, { invoice_id: 'A-1' }))
  holder = new Client({ connectionString: gateway.databaseUrl })
  await holder.connect()
})
afterAll(async () => {
  await holder.end()
  await gateway.stop()
})

async function untilSomebodyWaits() {
  const waiting = 'select 1 from pg_locks where not granted'
  while ((await holder.query(waiting)).rowCount === 0) await sleep(5)
  await sleep(100) // and the others have come, too
}

const crowd = 120
const nobody = 'a'.repeat(36)

for (const [path, table, method] of [
  ['/readyz', 'migrations', 'GET'],
  ['/sandbox/phone?number=0241234567', 'sandbox_charges', 'GET'],
  [`/sandbox/phone/${nobody}`, 'sandbox_charges', 'GET'],
  [`/sandbox/card/${nobody}`, 'sandbox_charges', 'GET'],
  [`/callbacks/${nobody}`, 'attempts', 'POST'],
  ['/inbox', 'messages', 'GET'],
  ['/support?q=A-1', 'tasks', 'GET'],
] as const)
  test(`${crowd} ask ${path.slice(0, 32)}, and its table is locked: payments are stored meanwhile`, async () => {
    await holder.query('begin')
    await holder.query(`lock table ${table} in access exclusive mode`)
    const asked = Array.from({ length: crowd }, () =>
      send(gateway.url + path, { method, headers: asOperator }),
    )
    await untilSomebodyWaits()
    const request = signedRequest(shop.test)
    expect((await post(gateway.url, request)).http).toBe(200)
    const { merchant_key } = shop.test
    expect((await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).http).toBe(200)
    await holder.query('rollback')
    for (const { http } of await Promise.all(asked)) expect([200, 404, 429, 503]).toContain(http) // 429: of callbacks for nothing that we know, a hundred at once
  })
