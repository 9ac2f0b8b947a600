import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { pendingMigrations } from '../../src/store/migrate/migrationList.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { type Answer, checkStatus, post, signedRequest } from '../support/merchant/merchant.ts'

const masterKey = randomBytes(32)
let database: FreshDatabase
let db: Db
const nodes: GatewayProcess[] = []
let merchant_id: string
let shop: Credentials

const start = (key = masterKey) =>
  spawnGateway({
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY: key.toString('hex'),
    TOLLGATE_BASE_URL: 'https://pay.example', // the one address that they are all reached by
  })

// All at once, on an empty database.
beforeAll(async () => {
  database = await freshDatabase()
  await Promise.all([1, 2, 3].map(async () => nodes.push(await start())))
  db = openDb(database.url, 2)
  const merchant = await onboard(db, givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  merchant_id = merchant.merchant_id
  assert.ok(merchant.test)
  shop = merchant.test
  await setMerchant(db, merchant_id, ['rate_limit=0'])
})
afterAll(async () => {
  await Promise.all(nodes.map(node => node.kill('SIGTERM')))
  await db.end()
  await database.drop()
})

const urls = () => nodes.map(node => node.url)
const checkOn = (url: string, invoice_id: string) =>
  checkStatus(url, { merchant_key: shop.merchant_key, invoice_id })
const referenceOf = ({ body }: Answer) => body.tx_reference

test('three nodes that start at once on an empty database all serve', async () => {
  const answers = await Promise.all(urls().map(url => post(url, signedRequest(shop))))
  assert.deepEqual(
    answers.map(answer => answer.http),
    [200, 200, 200],
  )
})

test('nodes that migrate an empty database at once do not disturb each other', async () => {
  const another = await freshDatabase()
  const six = Array.from({ length: 6 }, () => openDb(another.url, 1))
  for (let round = 0; round < 30; round++) {
    await Promise.all(six.map(one => migrate(one)))
    assert.deepEqual((await Promise.all(six.map(one => pendingMigrations(one)))).flat(), [])
    await query(another.url, 'drop schema public cascade; create schema public')
  }
  await Promise.all(six.map(one => one.end()))
  await another.drop()
})

test('what one node stored, every node finds', async () => {
  for (const url of urls()) {
    const created = await post(url, signedRequest(shop))
    const found = await Promise.all(urls().map(other => checkOn(other, created.body.invoice_id)))
    assert.deepEqual(
      found.map(referenceOf),
      urls().map(() => referenceOf(created)),
    )
  }
})

test('the same request to all nodes at once is one payment with one address', async () => {
  const requests = Array.from({ length: 200 }, () => signedRequest(shop))
  const answers = await Promise.all(requests.map(one => Promise.all(urls().map(url => post(url, one)))))
  for (const [first, ...others] of answers) {
    assert.equal(first?.http, 200)
    for (const other of others) assert.deepEqual(other.body, first?.body)
  }
  const stored = await query(database.url, 'select invoice_id, tx_reference from payments')
  for (const [at, { invoice_id }] of requests.entries())
    assert.deepEqual(
      stored.filter(row => row.invoice_id === invoice_id).map(row => row.tx_reference),
      [answers[at]?.[0]?.body.tx_reference],
    )
})

test('different requests with one invoice_id, to all nodes at once: one wins, the others are told', async () => {
  for (let round = 0; round < 50; round++) {
    const invoice_id = `RACE-${round}`
    const answers = await Promise.all(
      urls().map((url, at) => post(url, signedRequest(shop, { invoice_id, total: `${at + 1}.00` }))),
    )
    assert.deepEqual(
      answers.map(answer => answer.http).sort((a, b) => a - b),
      [200, 409, 409],
    )
  }
})

for (const [setting, http] of [
  ['errors_as_200=on', 200],
  ['errors_as_200=off', 404],
  ['signed_status_checks=on', 401],
  ['signed_status_checks=off', 404],
] as const) {
  test(`${setting} holds on every node within a second`, async () => {
    await Promise.all(urls().map(url => checkOn(url, 'NONE-1'))) // every node has just read the old one
    await setMerchant(db, merchant_id, [setting])
    await sleep(1000)
    const answers = await Promise.all(urls().map(url => checkOn(url, 'NONE-1')))
    assert.deepEqual(
      answers.map(answer => answer.http),
      urls().map(() => http),
    )
  })
}

test('a node that cannot open the secrets does not start, and says so in one sentence', async () => {
  await assert.rejects(start(randomBytes(32)), (error: Error) => {
    assert.match(
      error.message,
      /^the gateway ended with 78: .*sealed with master key [0-9a-f]{16}, which this/,
    )
    assert.equal(error.message.trim().split('\n').length, 1)
    return true
  })
})
