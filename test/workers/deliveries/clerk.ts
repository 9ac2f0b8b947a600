import type { Delivery } from '../../../src/core/notification/delivery.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { type LeasedDelivery, takeAlone } from '../../../src/store/notifications/deliveries.ts'
import { type DeliveryOutcome, triesOf, type Try } from '../../../src/store/notifications/tries.ts'
import { createTriesLog, type FinishedTry } from '../../../src/workers/deliveries/tries.ts'
import { after, seconds } from '../../support/payments/rows.ts'
import type { Post } from './post.ts'

export type Clerk = ReturnType<typeof createClerk>

// As a worker takes a delivery and writes down what came of it, a step at a time; and what stands there then.
export function createClerk(post: Post) {
  const { db, clock } = post
  let tokens = 0

  async function take(...keys: NotificationKey[]): Promise<LeasedDelivery[]> {
    const now = clock()
    return takeAlone(db, keys, { token: `token ${++tokens}`, until: after(seconds(30), now), now })
  }

  function triedOf(
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
    tell: async (merchant_id = post.ids[0] as string): Promise<NotificationKey> => ({
      merchant_id,
      tx_reference: await post.tell({ merchant_id }),
      sequence: 1,
    }),
    take,
    takeOne: async (key: NotificationKey) => (await take(key))[0] as LeasedDelivery,
    yes: (): Partial<DeliveryOutcome> => ({
      next_try_at: null,
      acknowledged_at: clock(),
      status: 200,
      result: 'acknowledged',
      words: '',
    }),
    no: (): Partial<DeliveryOutcome> => ({ next_try_at: after(seconds(10), clock()) }),
    noMore: (): Partial<DeliveryOutcome> => ({ next_try_at: null, exhausted_at: clock() }),
    triedOf,
    save: (...tried: FinishedTry[]) => saveOn(db, ...tried),
    find: async ({ tx_reference }: NotificationKey) =>
      (await post.deliveries()).find(one => one.tx_reference === tx_reference) as Delivery,
    earlier: async () => (await db.rows(sql`select from tries`)).length,
    numbersOf: async (key: NotificationKey) => (await triesOf(db, key)).map(one => one.try),
    notices: async () =>
      (await db.rows<{ recipient: string }>(sql`select recipient from messages`)).map(one => one.recipient),
  }
}

export async function saveOn(db: Db, ...tried: FinishedTry[]) {
  const log = createTriesLog(db)
  await Promise.all(tried.map(one => log.add(one)))
}

// Only what a try is, of all that its outcome says.
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
