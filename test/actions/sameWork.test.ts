import { afterAll, beforeAll, expect, test } from 'vitest'
import { check } from '../../src/actions/check.ts'
import type { Gate } from '../../src/actions/gate.ts'
import { initiate } from '../../src/actions/initiate.ts'
import type { Db } from '../../src/store/db.ts'
import { testGate } from '../support/gate.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway.ts'
import { signedRequest } from '../support/merchant.ts'

// A guess must not be told from its timing. Clocks lie in tests, so the work itself is counted: the same
// number of statements for each kind of miss.
let gateway: TestGateway
let shop: TestMerchant
let gate: Gate
let statements = 0

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
  const db: Db = {
    ...gateway.db,
    rows: query => {
      statements++
      return gateway.db.rows(query)
    },
  }
  gate = testGate({ db, masterKeys: gateway.masterKeys, batchRows: 10, poolSize: 2 })
})
afterAll(() => gateway.stop())

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  await gate.callers.find(shop.test.merchant_key) // a merchant that asks often is known
  statements = 0
  await expect(work()).rejects.toBeTruthy()
  return statements
}

test('initiation: an unknown merchant and a wrong hash cost the same', async () => {
  const wrong = { ...signedRequest(shop.test), secure_hash: '0'.repeat(64) }
  const stranger = { ...wrong, merchant_key: 'tk_stranger' }
  const costs = [
    await statementsOf(() => initiate(gate, wrong, 'api', '127.0.0.1')),
    await statementsOf(() => initiate(gate, stranger, 'api', '127.0.0.1')),
    await statementsOf(() => initiate(gate, { ...wrong, secure_hash: 'x' }, 'api', '127.0.0.1')),
  ]
  expect(new Set(costs).size).toBe(1)
})

test('status check: an unknown merchant and an unknown invoice cost the same', async () => {
  const { merchant_key } = shop.test
  const costs = [
    await statementsOf(() => check(gate, { merchant_key, invoice_id: 'none' }, '127.0.0.1')),
    await statementsOf(() => check(gate, { merchant_key: 'tk_stranger', invoice_id: 'none' }, '127.0.0.1')),
    await statementsOf(() => check(gate, { merchant_key: 'a\0b', invoice_id: 'none' }, '127.0.0.1')),
    await statementsOf(() => check(gate, { merchant_key, invoice_id: 'a\0b' }, '127.0.0.1')),
  ]
  expect(new Set(costs).size).toBe(1)
})
