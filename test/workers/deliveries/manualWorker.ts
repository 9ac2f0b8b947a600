import type { Delivery, Try } from '../../../src/core/notification/delivery.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import {
  type DeliveryOutcome,
  type LeasedDelivery,
  takeAlone,
} from '../../../src/store/notifications/deliveries.ts'
import { triesOf } from '../../../src/store/notifications/tries.ts'
import { createTriesLog, type FinishedTry } from '../../../src/workers/deliveries/tries.ts'
import { after, seconds } from '../../support/payments/rows.ts'
import type { DeliveryFixture } from './fixture.ts'

export type ManualWorker = ReturnType<typeof createManualWorker>

// Takes deliveries and saves their results one step at a time, like a worker, and reads the rows.
export function createManualWorker(fixture: DeliveryFixture) {
  const { db, clock } = fixture
  let tokens = 0

  async function take(...keys: NotificationKey[]): Promise<LeasedDelivery[]> {
    const now = clock()
    return takeAlone(db, keys, { token: `token ${++tokens}`, until: after(seconds(30), now), now })
  }

  function finishedTry(
    taken: LeasedDelivery,
    ending: Partial<DeliveryOutcome>,
    contact_email: string | null = null,
  ): FinishedTry {
    const outcome: DeliveryOutcome = {
      merchant_id: taken.merchant_id,
      tx_reference: taken.tx_reference,
      sequence: taken.sequence,
      lease_token: taken.lease_token,
      next_try_at: null,
      acknowledged_at: null,
      exhausted_at: null,
      try: taken.tries,
      started_at: clock(),
      ms: 100 + taken.tries,
      address: '192.0.2.7',
      status: 500,
      result: 'server_error',
      words: 'in pieces',
      answer: Buffer.of(0, taken.tries, 255),
      ...ending,
    }
    return { mode: taken.mode, outcome, contact_email, first_byte_at: null, passwordWithheld: false }
  }

  return {
    notify: async (merchant_id = fixture.ids[0] as string): Promise<NotificationKey> => ({
      merchant_id,
      tx_reference: await fixture.notify({ merchant_id }),
      sequence: 1,
    }),
    take,
    takeOne: async (key: NotificationKey) => (await take(key))[0] as LeasedDelivery,
    acknowledged: (): Partial<DeliveryOutcome> => ({
      next_try_at: null,
      acknowledged_at: clock(),
      status: 200,
      result: 'acknowledged',
      words: '',
    }),
    failed: (): Partial<DeliveryOutcome> => ({ next_try_at: after(seconds(10), clock()) }),
    exhausted: (): Partial<DeliveryOutcome> => ({ next_try_at: null, exhausted_at: clock() }),
    finishedTry,
    save: (...tried: FinishedTry[]) => saveOn(db, ...tried),
    find: async ({ tx_reference }: NotificationKey) =>
      (await fixture.deliveries()).find(one => one.tx_reference === tx_reference) as Delivery,
    countEarlierTries: async () => (await db.rows(sql`select from tries`)).length,
    tryNumbers: async (key: NotificationKey) => (await triesOf(db, key)).map(one => one.try),
    notices: async () =>
      (await db.rows<{ recipient: string }>(sql`select recipient from messages`)).map(one => one.recipient),
  }
}

export async function saveOn(db: Db, ...tried: FinishedTry[]) {
  const log = createTriesLog(db)
  await Promise.all(tried.map(one => log.add(one)))
}

// The columns of the try, without those of the delivery.
export const tryOf = ({ outcome }: FinishedTry): Try => ({
  merchant_id: outcome.merchant_id,
  tx_reference: outcome.tx_reference,
  sequence: outcome.sequence,
  try: outcome.try,
  started_at: outcome.started_at,
  ms: outcome.ms,
  address: outcome.address,
  status: outcome.status,
  result: outcome.result,
  words: outcome.words,
  answer: outcome.answer,
})
