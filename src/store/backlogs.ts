import { sql, type Tx } from './db.ts'

export type Backlogs = {
  unresolved: number
  oldest_unresolved_seconds: number
  to_expire: number
  to_redact: number
}

const counted = 10_000 // more are not counted, so that a scrape stays cheap

// For the metrics: what the workers have not done yet. Payments with an unresolved attempt wait for its outcome, so they are
// not counted as expired.
export const readBacklogs = async (
  tx: Tx,
  now: Date,
  { expiredBefore, redactBefore }: { expiredBefore: Date; redactBefore: Date | undefined },
): Promise<Backlogs> => {
  const read = await tx.one<Backlogs>(sql`
    select (select count(*)::integer from (
        select from attempts where state not in ('paid', 'failed') limit ${counted}) as rows_found) as unresolved,
      coalesce((select extract(epoch from ${now}::timestamptz - min(created_at))::double precision from attempts
        where state not in ('paid', 'failed')), 0) as oldest_unresolved_seconds,
      (select count(*)::integer from (
        select from payments p where status = 'awaiting_payment' and expires_at < ${expiredBefore}
          and not exists (select from attempts a where a.merchant_id = p.merchant_id
            and a.tx_reference = p.tx_reference and a.state not in ('paid', 'failed'))
        limit ${counted}) as rows_found) as to_expire,
      (select count(*)::integer from (
        select from payments where status <> 'awaiting_payment' and redacted_at is null
          and expires_at < ${redactBefore ?? new Date(0)}::timestamptz limit ${counted}) as rows_found) as to_redact`)
  return read ?? { unresolved: 0, oldest_unresolved_seconds: 0, to_expire: 0, to_redact: 0 }
}
