import { sql, type Tx } from '../db.ts'

// What nodes begin to do at once when a database is declared the real one.
export type Backlog = {
  deliveries: number // of notifications, which are due
  messages: number // to customers, which are due
  attempts: number // whose provider is asked
  refunds: number // that are sent, or whose provider is asked
  expiring: number // payments whose time is over
}

export const readBacklog = async (tx: Tx, now: Date): Promise<Backlog> =>
  (await tx.one<Backlog>(sql`
    select
      (select count(*)::integer from deliveries where next_try_at is not null and (next_try_at <= ${now} or parked))
        as deliveries,
      (select count(*)::integer from messages where next_try_at <= ${now}) as messages,
      (select count(*)::integer from attempts where next_poll_at is not null) as attempts,
      (select count(*)::integer from refunds where next_poll_at is not null) as refunds,
      (select count(*)::integer from payments where status = 'awaiting_payment' and expires_at <= ${now}) as expiring`)) as Backlog
