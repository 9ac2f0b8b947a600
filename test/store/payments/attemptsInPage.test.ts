import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { newAttemptId } from '../../../src/runtime/ids.ts'
import { type Db, sql, type Tx } from '../../../src/store/db.ts'
import { promptAttempt } from '../../../src/store/payments/callbacks.ts'
import { claimDueAttempts } from '../../../src/store/payments/dueAttempts.ts'
import {
  insertAttempt,
  openPaymentDatabase,
  type PaymentDatabase,
} from '../../support/payments/paymentDatabase.ts'
import { after, anAttempt, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { simulatedAccount } from '../../support/payments/simulatedNode.ts'

vi.setConfig({ testTimeout: 120_000 }) // it waits until no older transaction is open

const count = 200
const slots = 50 // of one look, as workers have them
const rounds = 5

let lives: PaymentDatabase
let db: Db
beforeAll(async () => {
  lives = await openPaymentDatabase(1) // one connection: it knows all that was changed
  db = lives.db
})
afterAll(() => lives.close())

// A take leaves every index as it is, so that the new version of a row stays in its page and costs no index a change.
beforeEach(async () => {
  await db.rows(sql`truncate attempts`)
  for (const { merchant_id, tx_reference } of await lives.addPayments(count, noon))
    await insertAttempt(db, anAttempt({ merchant_id, tx_reference, attempt_id: newAttemptId(merchant_id) }))
})

type Changed = { all: number; inPage: number }

const changedOn = async (tx: Tx) =>
  (await tx.one<Changed>(sql`
    select n_tup_upd::integer as all, n_tup_hot_upd::integer as "inPage" from pg_stat_xact_user_tables
    where relname = 'attempts'`)) ?? { all: 0, inPage: 0 }

// The server learns anew what it may sweep when the oldest of all transactions is over, in whichever database: a test
// beside this one may have it.
async function untilSweepable() {
  const next = await db.one(sql`select pg_snapshot_xmax(pg_current_snapshot())::text as id`)
  const oldest = () => db.one(sql`select pg_snapshot_xmin(pg_current_snapshot())::text as id`)
  await expect.poll(async () => idOf(await oldest()) >= idOf(next), { timeout: 60_000 }).toBe(true)
}

const idOf = (row: unknown) => BigInt((row as { id: string }).id)

// Each a transaction of its own, as workers do it: what the one before has left can be swept.
async function takeAt(now: Date, callback_received: boolean) {
  await untilSweepable()
  return db.transaction(async tx => {
    const before = await changedOn(tx)
    const lease = { now, until: after(seconds(20), now) }
    const taken = await claimDueAttempts(
      Object.assign(tx, { locks: db.locks }) as unknown as Db,
      [{ ...simulatedAccount, callback_received, most: slots }],
      lease,
    )
    const { all, inPage } = await changedOn(tx)
    return { taken: taken.length, all: all - before.all, inPage: inPage - before.inPage }
  })
}

for (const callback_received of [false, true])
  test(`takes of attempts ${callback_received ? 'with a callback' : 'whose time has come'} stay in their pages`, async () => {
    if (callback_received)
      for (const { attempt_id } of await db.rows<{ attempt_id: string }>(
        sql`select attempt_id from attempts`,
      ))
        await promptAttempt(db, { merchant_id: lives.merchant_id, attempt_id }, noon)
    const changed = { all: 0, inPage: 0 }
    for (
      let round = 1;
      round <= rounds;
      round++ // the leases of the one before are over
    )
      for (let look = 0; look < count / slots; look++) {
        const { taken, all, inPage } = await takeAt(after(minutes(round)), callback_received)
        expect(taken).toBe(slots)
        changed.all += all
        changed.inPage += inPage
      }
    expect(changed.all).toBe(rounds * count)
    expect(changed.inPage).toBeGreaterThan(0.9 * changed.all)
  })
