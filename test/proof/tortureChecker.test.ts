import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, sql, type Tx } from '../../src/store/db.ts'
import { migratedDatabase } from '../support/database/database.ts'
import type { StoredPayment } from '../support/payments/paymentDatabase.ts'
import { type ViolationKind, violationKinds, violationsIn } from '../torture/checker.ts'
import { type Evidence, readEvidence } from '../torture/evidence.ts'
import { type Installation, openInstallation } from '../torture/installation.ts'
import { type Load, type Sale, startLoad } from '../torture/load.ts'
import { settle } from '../torture/settle.ts'

// The checker of `npm run torture` has to find what it is for. Each kind of violation is planted, one by one, into a real
// installation at rest: into its database, in a transaction that is rolled back, or into what shops, providers and receivers
// have recorded.
const seed = 5
const allowedMs = 600_000

let installation: Installation
let load: Load
let sound: Evidence

beforeAll(async () => {
  const { url, drop } = await migratedDatabase()
  const database = {
    what: 'a database of the tests',
    url,
    hosts: [url],
    primaryUrl: async () => url,
    stop: drop,
  }
  installation = await openInstallation(database, { nodeCount: 1 })
  load = startLoad(installation, seed)
  load.resume()
  while (!hasAll(load.sales)) await sleep(200)
  await load.pause()
  assert.equal(await settle(installation, allowedMs), undefined)
  sound = await readEvidence(installation, load)
}, allowedMs)
afterAll(() => installation.stop(), 120_000)

// What the plantings need.
const hasAll = (sales: readonly Sale[]) =>
  sales.some(sale => sale.cancelAcknowledged) &&
  sales.some(sale => sale.refused) &&
  sales.some(sale => sale.refunds.some(({ isAcknowledged }) => isAcknowledged))

const saleWhere = (is: (sale: Sale) => unknown): Sale => {
  const found = sound.sales.find(is)
  assert.ok(found)
  return found
}
const cancelled = () => saleWhere(sale => sale.cancelAcknowledged)
const refused = () => saleWhere(sale => sale.refused)
const refunded = () => saleWhere(sale => sale.refunds.some(({ isAcknowledged }) => isAcknowledged))
const referenceOf = (sale: Sale) => sale.references[0] ?? ''

function storedOf(sale: Sale): StoredPayment {
  const found = sound.payments.find(({ payment }) => payment.tx_reference === referenceOf(sale))
  assert.ok(found)
  return found
}
const attemptOf = (sale: Sale) => storedOf(sale).attempts[0]?.attempt_id ?? ''

const ofCancelled = () => sql`where tx_reference = ${referenceOf(cancelled())}`
const ofRefunded = () => sql`where tx_reference = ${referenceOf(refunded())}`

class RolledBack extends Error {}

async function readWith(plant: (tx: Tx) => Promise<unknown>): Promise<Evidence> {
  let evidence: Evidence | undefined
  const { db } = installation.world
  await db
    .transaction(async tx => {
      await tx.rows(sql`set transaction isolation level repeatable read`) // which the checker sets, too
      await plant(tx)
      const inside: Pick<Db, 'rows' | 'transaction'> = { rows: tx.rows, transaction: work => work(tx) }
      evidence = await readEvidence(installation, load, inside)
      throw new RolledBack()
    })
    .catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error
    })
  assert.ok(evidence)
  return evidence
}

type Planting = {
  kind: ViolationKind
  what: string
  inDatabase?(tx: Tx): Promise<unknown>
  inRecords?(evidence: Evidence): Partial<Evidence>
}

const changeSale = ({ sales }: Evidence, which: Sale, change: Partial<Sale>) => ({
  sales: sales.map(sale => (sale === which ? { ...sale, ...change } : sale)),
})
const changeOrder = ({ orders }: Evidence, sale: Sale, change: Partial<Evidence['orders'][number]>) => ({
  orders: orders.map(order => (order.reference === attemptOf(sale) ? { ...order, ...change } : order)),
})
const isFirstOf =
  (sale: Sale) =>
  ({ id }: { id: string }) =>
    id === `${referenceOf(sale)}-N1`

const plantings: Planting[] = [
  {
    kind: 'lost',
    what: 'an acknowledged payment is not in the database',
    inDatabase: tx => tx.rows(sql`delete from payments ${ofCancelled()}`),
  },
  {
    kind: 'lost',
    what: 'a payment has another amount than was requested',
    inDatabase: tx => tx.rows(sql`update payments set total = total + 1 ${ofCancelled()}`),
  },
  {
    kind: 'lost',
    what: 'an acknowledged refund is not in the database',
    inDatabase: tx => tx.rows(sql`update refunds set refund_id = refund_id || '-other' ${ofRefunded()}`),
  },
  {
    kind: 'lost',
    what: 'a cancelled payment is awaited again',
    inDatabase: tx => tx.rows(sql`update payments set status = 'awaiting_payment' ${ofCancelled()}`),
  },
  {
    kind: 'lost',
    what: 'one request was acknowledged with two references',
    inRecords: evidence =>
      changeSale(evidence, cancelled(), { references: [...cancelled().references, 'TG-OTHER'] }),
  },
  {
    kind: 'lost',
    what: 'a shop was answered that it is paid, and it is not',
    inRecords: evidence => changeSale(evidence, cancelled(), { paidAcknowledged: true }),
  },
  {
    kind: 'lost',
    what: 'a provider has an order of no attempt',
    inRecords: ({ orders }) => ({
      orders: orders.map((one, at) => (at === 0 ? { ...one, reference: 'A-OTHER' } : one)),
    }),
  },
  {
    kind: 'a refused request took effect',
    what: 'a refused payment request is stored',
    inDatabase(tx) {
      const { invoice_id, merchant_id } = refused()
      const changed = { invoice_id, merchant_id, tx_reference: 'TG-OTHER', tx_token: 'other' }
      return tx.rows(sql`
        insert into payments select (jsonb_populate_record(p, ${JSON.stringify(changed)})).*
        from payments p ${ofCancelled()}`)
    },
  },
  {
    kind: 'a refused request took effect',
    what: 'a refused refund is stored',
    inRecords: evidence =>
      changeSale(evidence, refunded(), {
        refunds: refunded().refunds.map(one => ({ ...one, isAcknowledged: false, refused: '400 no' })),
      }),
  },
  {
    kind: 'double charge',
    what: 'the provider charged an order twice',
    inRecords: evidence => changeOrder(evidence, refunded(), { charges: 2 }),
  },
  {
    kind: 'double charge',
    what: 'the provider has two charged orders of one attempt',
    inRecords: ({ orders }) => ({
      orders: orders.flatMap(one => (one.reference === attemptOf(refunded()) ? [one, one] : [one])),
    }),
  },
  {
    kind: 'refund beyond its charge',
    what: 'the provider sent back more than it took',
    inRecords: evidence =>
      changeOrder(evidence, refunded(), {
        refunds: [{ id: 'R-OTHER', amount: storedOf(refunded()).payment.total + 1n, words: '' }],
      }),
  },
  {
    kind: 'ledger',
    what: 'a transfer has another amount',
    async inDatabase(tx) {
      await tx.rows(sql`alter table transfers disable trigger user`)
      await tx.rows(sql`update transfers set amount = amount + 1 ${ofRefunded()}`)
    },
  },
  {
    kind: 'ledger',
    what: 'a charge is not booked',
    async inDatabase(tx) {
      await tx.rows(sql`alter table transfers disable trigger user`)
      await tx.rows(sql`delete from transfers ${ofRefunded()}`)
    },
  },
  {
    kind: 'ledger',
    what: 'the provider took another amount than is booked',
    inRecords: evidence =>
      changeOrder(evidence, refunded(), { amount: storedOf(refunded()).payment.total + 100n }),
  },
  {
    kind: 'illegal history',
    what: 'a paid payment became failed',
    inDatabase: tx => tx.rows(sql`update payments set status = 'failed' ${ofRefunded()}`),
  },
  {
    kind: 'illegal history',
    what: 'an event says another status',
    inDatabase: tx =>
      tx.rows(sql`update events set to_status = 'failed' ${ofRefunded()} and to_status = 'paid'`),
  },
  {
    kind: 'illegal history',
    what: 'an attempt has no outcome and is not polled',
    inDatabase: tx =>
      tx.rows(sql`
        update attempts set state = 'pending', reason = null, ended_at = null, next_poll_at = null
        ${ofRefunded()}`),
  },
  {
    kind: 'illegal history',
    what: 'a charge was never found',
    inDatabase: tx => tx.rows(sql`update attempts set state = 'failed', reason = 'declined' ${ofRefunded()}`),
  },
  {
    kind: 'event or delivery missing',
    what: 'a change of status has no event',
    inDatabase: tx => tx.rows(sql`delete from events ${ofCancelled()} and kind = 'status_changed'`),
  },
  {
    kind: 'event or delivery missing',
    what: 'a change of status has no notification',
    async inDatabase(tx) {
      await tx.rows(sql`delete from deliveries ${ofCancelled()}`)
      await tx.rows(sql`delete from notifications ${ofCancelled()}`)
    },
  },
  {
    kind: 'event or delivery missing',
    what: 'a notification has no delivery',
    inDatabase: tx => tx.rows(sql`delete from deliveries ${ofCancelled()}`),
  },
  {
    kind: 'event or delivery missing',
    what: 'the outcome of a refund has no notification',
    inDatabase: tx =>
      tx.rows(
        sql`update notifications set type = 'refund.failed' ${ofRefunded()} and type = 'refund.succeeded'`,
      ),
  },
  {
    kind: 'notification',
    what: 'the receiver never got one',
    inRecords: ({ received }) => ({ received: received.filter(one => !isFirstOf(cancelled())(one)) }),
  },
  {
    kind: 'notification',
    what: 'the receiver got one that nobody sent',
    inRecords: ({ received }) => ({
      received: received.map((one, at) => (at === 0 ? { ...one, id: 'TG-OTHER-N1' } : one)),
    }),
  },
  {
    kind: 'notification',
    what: 'a signature is wrong',
    inRecords: ({ received }) => ({
      received: received.map((one, at) =>
        at === 0 ? { ...one, headers: { ...one.headers, 'webhook-signature': 'v1,AAAA' } } : one,
      ),
    }),
  },
  {
    kind: 'notification',
    what: 'a delivery is not acknowledged',
    inDatabase: tx => tx.rows(sql`update deliveries set acknowledged_at = null ${ofCancelled()}`),
  },
  {
    kind: 'duplicate differs',
    what: 'a notification came again with other bytes',
    inRecords: ({ received }) => ({
      received: received.flatMap(one =>
        isFirstOf(cancelled())(one)
          ? [one, { ...one, body: `${one.body} `, attempt: one.attempt + 1 }]
          : [one],
      ),
    }),
  },
]

const now = () => new Date()

test('the checker finds nothing in a sound installation', () =>
  expect(violationsIn(sound, now())).toEqual([]))

for (const { kind, what, inDatabase, inRecords } of plantings)
  test(`${kind}: ${what}`, async () => {
    const stored = inDatabase ? await readWith(inDatabase) : sound
    const planted = { ...stored, ...inRecords?.(stored) }
    const kinds = new Set(violationsIn(planted, now()).map(violation => violation.kind))
    expect([...kinds]).toContain(kind)
  })

test('every kind of violation is planted, except that work does not end, which the rounds find', () =>
  expect(violationKinds.filter(kind => !plantings.some(one => one.kind === kind))).toEqual(['liveness']))

test('nothing that was planted is left', async () =>
  expect(violationsIn(await readEvidence(installation, load), now())).toEqual([]))
