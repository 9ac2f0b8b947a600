import assert from 'node:assert/strict'
import { type Credentials, onboard } from '../../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { migratedDatabase, query } from '../database/database.ts'
import { type TestGateway, testGateway } from './gateway.ts'
import type { Request } from '../merchant/merchant.ts'
import { type PostgresProxy, startPostgresProxy } from '../database/postgresProxy.ts'

export type BehindProxy = {
  proxy: PostgresProxy
  gateway: TestGateway
  db: Db // not through the proxy
  sql(text: string): ReturnType<typeof query> // not through the proxy either
  register(on: Db, ...settings: string[]): Promise<Credentials>
  stored(requests: Request[]): Promise<string[][]> // the references under each invoice: one each, if nothing is stored twice
  stop(): Promise<void>
}

// A gateway that connects to its database through a proxy, which can inject faults.
export async function gatewayBehindProxy(): Promise<BehindProxy> {
  const database = await migratedDatabase()
  const proxy = await startPostgresProxy(database.url)
  // Small batches make many commits, and so many points at which a connection can be cut.
  const gateway = await testGateway({ DATABASE_URL: proxy.url, TOLLGATE_BATCH_ROWS: '8' })
  const db = openDb(database.url, 2)
  return {
    proxy,
    gateway,
    db,
    sql: text => query(database.url, text),
    async register(on, ...settings) {
      const { merchant_id, test } = await onboard(on, gateway.masterKeys, 'Ama Shop', ['test'], new Date())
      await setMerchant(on, merchant_id, ['rate_limit=0', ...settings])
      assert.ok(test)
      return test
    },
    async stored(requests) {
      const rows = await query(database.url, 'select invoice_id, tx_reference from payments')
      const references = new Map<string, string[]>()
      for (const { invoice_id, tx_reference } of rows)
        references.set(invoice_id, [...(references.get(invoice_id) ?? []), tx_reference])
      return requests.map(({ invoice_id }) => references.get(invoice_id) ?? [])
    },
    async stop() {
      await gateway.stop()
      await db.end()
      await proxy.stop()
      await database.drop()
    },
  }
}
