import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OutboundMessage } from '../../src/core/message/messenger.ts'
import { sql } from '../../src/store/db.ts'
import { migrationNames, recordServed } from '../../src/store/migrate/migrationList.ts'
import { startLedger } from '../../src/workers/ledger.ts'
import { hours, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

let shop: TestShop
beforeAll(async () => void (shop = await openShop()))
afterAll(() => shop.stop())

const count = async (table: string) =>
  Number((await shop.db.one<{ count: bigint }>(sql([`select count(*) from ${table}`])))?.count)

const clock = () => new Date(Date.now() + hours(50))

test('two nodes seal, sum and mail once', async () => {
  const merchant = await shop.addMerchant()
  const payment = await shop.ask(merchant, { total: '25.00' })
  await shop.try(payment, { ...yes, amount: 2500n })
  await recordServed(shop.db, migrationNames())
  const mails: OutboundMessage[] = []
  const troubles: unknown[] = []
  const options = {
    zone: 'Africa/Accra',
    mail: {
      to: 'operator@pay.example',
      messenger: {
        async send(message: OutboundMessage) {
          mails.push(message)
          return { state: 'sent' as const }
        },
      },
    },
    found: () => {},
    sealed: () => {},
    trouble: (error: unknown) => void troubles.push(error),
  }
  const nodes = [0, 1].map(() => startLedger({ db: shop.db, clock }, options))
  await expect.poll(() => mails.length).toBe(1)
  await Promise.all(nodes.map(node => node.stop()))
  expect(troubles).toEqual([])
  expect([await count('ledger_seals'), await count('ledger_snapshots')]).toEqual([1, 2])
  expect(mails[0]).toMatchObject({
    to: 'operator@pay.example',
    text: expect.stringContaining(merchant.merchant_id),
  })
  expect(await count('report_progress')).toBe(2)
  expect(mails).toHaveLength(1)
})

test('an error of one merchant or of the mail does not stop the work', async () => {
  const merchant = await shop.addMerchant()
  await shop.try(await shop.ask(merchant, { total: '25.00' }), { ...yes, amount: 2500n })
  const troubles: string[] = []
  const messenger = { send: async () => ({ state: 'retry' as const, reason: 'no route' }) }
  const node = startLedger(
    { db: shop.db, clock: () => new Date(Date.now() + hours(80)) },
    {
      zone: 'UTC',
      mail: { to: 'operator@pay.example', messenger },
      found: () => {},
      sealed: () => {},
      trouble: error => void troubles.push(String(error)),
    },
  )
  await expect.poll(() => troubles.join()).toContain('were not mailed: no route')
  await node.stop()
  expect(await count('ledger_seals')).toBe(2)
})
