import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { bookTransfers } from '../../../src/store/ledger/transfers.ts'
import { type FreshDatabase, migratedDatabase, query } from '../../support/database/database.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

// The two roles of docs/running.md, with the rights that deploy/ has for them.
const role = `tollgate_runtime_${randomBytes(4).toString('hex')}`
const grants = readFileSync('deploy/postgresql/runtime-role.sql', 'utf8')
let database: FreshDatabase
let runtime: Db
let gateway: TestGateway
beforeAll(async () => {
  database = await migratedDatabase()
  await query(database.url, `create role ${role} login password 'runtime'`)
  await query(database.url, grants.replaceAll('tollgate_runtime', role))
  const url = database.url.replace(/\/\/[^@]*@/, `//${role}:runtime@`)
  runtime = openDb(url, 2)
  gateway = await testGateway({}, {}, { url, drop: async () => {} })
})
afterAll(async () => {
  await gateway.stop()
  await runtime.end()
  await database.drop() // with the grants in it
  await query(inject('databaseUrl'), `drop role ${role}`)
})

test('the runtime role is enough for a gateway, and books transfers', async () => {
  expect(await runtime.one(sql`select current_user as name`)).toEqual({ name: role })
  expect(await send(`${gateway.url}/readyz`)).toMatchObject({ http: 200 })
  const merchant = await gateway.addMerchant()
  const asked = await post(gateway.url, signedRequest(merchant.test, {}))
  expect(asked.body).toMatchObject({ tx_reference: expect.any(String) })
  await runtime.rows(
    bookTransfers([
      {
        merchant_id: merchant.merchant_id,
        transfer_id: 'TG-1/1/charge',
        mode: 'live',
        currency: 'GHS',
        debit_account: 'provider:mtn',
        credit_account: 'merchant',
        amount: 100n,
        kind: 'charge',
        tx_reference: 'TG-1',
        attempt_id: null,
        refund_reference: null,
        reason: '',
        happened_at: new Date(),
      },
    ]),
  )
  expect(await runtime.rows(sql`select amount from transfers`)).toEqual([{ amount: 100n }])
})

describe('the runtime role may not', () => {
  for (const statement of [
    'update transfers set amount = 1',
    'delete from transfers',
    'truncate transfers',
    'update ledger_seals set number = 1',
    'delete from ledger_seals',
    'truncate ledger_seals',
    'update audit_entries set action = action',
    'delete from audit_entries',
    'truncate audit_entries',
    'alter table audit_entries disable trigger audit_entries_append_only',
    'alter table transfers disable trigger transfers_append_only',
    'alter table transfers disable trigger all',
    'drop trigger transfers_append_only on transfers',
    'drop table transfers',
    'alter table transfers rename to others',
    `create or replace function refuse_ledger_change() returns trigger language plpgsql as 'begin return null; end'`,
    'drop function refuse_ledger_change() cascade',
    'set session_replication_role = replica',
    'create rule quiet as on delete to transfers do instead nothing',
  ])
    test(statement, () =>
      expect(runtime.rows(sql([statement]))).rejects.toThrow(/permission denied|must be owner/),
    )
})
