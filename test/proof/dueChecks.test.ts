import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { migratedDatabase } from '../support/database/database.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'

// Work that becomes due without a wake-up: another process has written it. Each worker searches on its own once a minute
// only, so what happens within the time of a test was found by a due check, or by the polls that replace it.
let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
})
afterAll(() => receiver.close())

let proxy: PostgresProxy
let node: TestGateway

const cutSession = async () =>
  void (await node.db.rows(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'tollgate node' and datname = current_database()`))

const soon = { timeout: 20_000 }

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    await sleep(50)
  }
}

for (const [title, lose] of [
  ['wake-ups arrive', async () => {}],
  ['the connection of the wake-ups was cut a moment ago', cutSession],
  [
    'LISTEN is not possible',
    async () => {
      proxy.onStatement = text => (text.startsWith('listen') ? 'unsent' : undefined)
      await cutSession()
    },
  ],
] as const)
  describe(title, () => {
    let gateway: TestGateway
    let merchant: TestMerchant
    beforeAll(async () => {
      const database = await migratedDatabase()
      proxy = await startPostgresProxy(database.url)
      gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, {}, { ...database, url: proxy.url })
      merchant = await gateway.addMerchant()
      node = gateway
      await until(async () =>
        (await gateway.db.one(sql`select from nodes where is_listening`)) ? true : undefined,
      )
      await sleep(3000) // a due check has been made, and every worker has searched
      await lose()
    }, 60_000)
    afterAll(async () => {
      await gateway.stop()
      await proxy.stop()
    })

    const ask = async () =>
      (await post(gateway.url, signedRequest(merchant.test, { ipn_url: `${receiver.url}/ipn` }))).body

    test('a payment expires, and the merchant is notified', soon, async () => {
      const { tx_reference } = await ask()
      await gateway.db.rows(sql`
        update payments set expires_at = now() + interval '1 second' where tx_reference = ${tx_reference}`)
      await until(async () => receiver.of(tx_reference)[0])
      const payment = await gateway.db.one<{ status: string }>(
        sql`select status from payments where tx_reference = ${tx_reference}`,
      )
      expect(payment?.status).toBe('failed')
    })

    test('a delivery is tried again', soon, async () => {
      const { checkout_url, tx_reference } = await ask()
      await send(`${checkout_url}/cancel`, { method: 'POST', body: new URLSearchParams() })
      const isEnded = sql`select from deliveries where tx_reference = ${tx_reference} and acknowledged_at is not null`
      await until(async () => ((await gateway.db.one(isEnded)) ? true : undefined))
      await gateway.db.rows(sql`
        update deliveries set next_try_at = now() + interval '1 second', acknowledged_at = null, retry = true
        where tx_reference = ${tx_reference}`)
      await until(async () => receiver.of(tx_reference)[1])
    })

    test('a mail to a user is sent', soon, async () => {
      await gateway.db.rows(sql`
        insert into user_mails (mail_id, email, lang, kind, details, due_at, created_at)
        values ('m1', 'ama@shop.example', 'en', 'password_changed', '{}',
          date_trunc('milliseconds', now()) + interval '1 second', now())`)
      const waits = sql`select from user_mails where mail_id = 'm1' and tries = 0`
      await until(async () => ((await gateway.db.one(waits)) ? undefined : true))
    })

    test('an account that another process has added is opened', soon, async () => {
      const before = gateway.logs.length
      await gateway.db.rows(sql`
        insert into provider_accounts (account, provider, mode, settings, sealed_settings, wrapped_key, master_key_id,
          created_at, updated_at, version)
        values ('unknown', 'no_such_provider', 'test', '{}', '', '', '', now(), now(), 99)`)
      await until(async () =>
        gateway.logs.slice(before).find(line => line.includes('an account cannot be opened')),
      )
    })
  })
