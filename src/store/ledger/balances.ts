import type { Mode } from '../../core/mode.ts'
import { named, sql, type Tx } from '../db.ts'

export type AccountSums = { mode: Mode; currency: string; account: string; debits: bigint; credits: bigint }
type StoredSums = Omit<AccountSums, 'debits' | 'credits'> & { debits: string; credits: string }

// The end of the last day before a moment of which there is a snapshot.
export const lastSnapshot = async (tx: Tx, merchant_id: string, at: Date) =>
  (
    await tx.one<{ until_at: Date | null }>(named('last_snapshot')`
      select max(until_at) as until_at from ledger_snapshots
      where merchant_id = ${merchant_id} and until_at <= ${at}`)
  )?.until_at ?? null

// The sums of a snapshot and of the transfers from its end until a moment. Sums of sums are `numeric`, which is read as text.
const sumsQuery = (merchant_id: string, snapshot: Date | null, until: Date) => {
  const booked = sql`from transfers where merchant_id = ${merchant_id} and created_at < ${until}
    ${snapshot ? sql`and created_at >= ${snapshot}` : sql``}`
  return sql`
    select mode, currency, account, sum(debits) as debits, sum(credits) as credits
    from (
      select mode, currency, account, debits, credits from ledger_snapshots
        where merchant_id = ${merchant_id} and until_at = ${snapshot}
      union all
      select mode, currency, debit_account, sum(amount), 0 ${booked} group by mode, currency, debit_account
      union all
      select mode, currency, credit_account, 0, sum(amount) ${booked} group by mode, currency, credit_account
    ) as sums
    group by mode, currency, account`
}

export async function sumsUntil(
  tx: Tx,
  merchant_id: string,
  snapshot: Date | null,
  until: Date,
): Promise<AccountSums[]> {
  const rows = await tx.rows<StoredSums>(sql`
    select mode, currency, account, debits::text, credits::text
    from (${sumsQuery(merchant_id, snapshot, until)}) as s order by mode, currency, account`)
  return rows.map(row => ({ ...row, debits: BigInt(row.debits), credits: BigInt(row.credits) }))
}

// A snapshot that another node has made is the same.
export const addSnapshot = (tx: Tx, merchant_id: string, snapshot: Date | null, until: Date) =>
  tx.rows(sql`
    insert into ledger_snapshots (merchant_id, until_at, mode, currency, account, debits, credits)
    select ${merchant_id}, ${until}::timestamptz, s.mode, s.currency, s.account, s.debits, s.credits
    from (${sumsQuery(merchant_id, snapshot, until)}) as s
    on conflict (merchant_id, until_at, mode, currency, account) do nothing`)
