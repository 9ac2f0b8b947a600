import type { Seal, SealedRow } from '../../core/ledger/seal.ts'
import { named, sql, type Tx } from '../db.ts'

export const lastSeal = (tx: Tx, merchant_id: string) =>
  tx.one<Seal>(named('last_seal')`
    select * from ledger_seals where merchant_id = ${merchant_id} order by number desc limit 1`)

export const sealsBehind = (tx: Tx, merchant_id: string, number: number, limit: number) =>
  tx.rows<Seal>(sql`
    select * from ledger_seals where merchant_id = ${merchant_id} and number > ${number} order by number limit ${limit}`)

// Another node may have made the same seal.
export const addSeal = (tx: Tx, s: Seal, now: Date) =>
  tx.count(sql`
    insert into ledger_seals (merchant_id, number, until_at, transfers, row_digests, digest, created_at)
    values (${s.merchant_id}, ${s.number}, ${s.until_at}, ${s.transfers}, ${s.row_digests}, ${s.digest}, ${now})
    on conflict (merchant_id, number) do nothing`)

export type SealPlace = { created: string; row_id: string } // behind this row; `created` in microseconds
type SealTuple = [transfer_id: string, created: string, ...columns: (string | null)[]]

const micros = (column: string) => sql([`(extract(epoch from ${column}) * 1000000)::bigint::text`])

// The transfers of a period in the order in which they are sealed, behind a place.
export async function rowsToSeal(
  tx: Tx,
  { merchant_id, from, until }: { merchant_id: string; from: Date | null; until: Date },
  behind: SealPlace | undefined,
  limit: number,
): Promise<(SealedRow & SealPlace)[]> {
  const rows = await tx.tuples<SealTuple>(sql`
    select transfer_id, ${micros('created_at')}, merchant_id, mode, currency, debit_account, credit_account, amount::text,
      kind, tx_reference, attempt_id, refund_reference, reason, ${micros('happened_at')}
    from transfers
    where merchant_id = ${merchant_id} and created_at < ${until}
      ${from ? sql`and created_at >= ${from}` : sql``}
      ${
        behind
          ? sql`and created_at >= to_timestamp(0) + ${behind.created}::bigint * interval '1 microsecond'
              and (created_at, transfer_id) >
                (to_timestamp(0) + ${behind.created}::bigint * interval '1 microsecond', ${behind.row_id})`
          : sql``
      }
    order by created_at, transfer_id limit ${limit}`)
  return rows.map(columns => ({ row_id: columns[0], created: columns[1], columns }))
}

// The first transfer since a moment and before another one, if there is any.
export const hasTransfers = async (tx: Tx, merchant_id: string, from: Date | null, until: Date) =>
  (await tx.one(sql`
    select from transfers where merchant_id = ${merchant_id} and created_at < ${until}
      ${from ? sql`and created_at >= ${from}` : sql``} limit 1`)) !== undefined

// The last seal of every merchant.
export const sealHeads = (tx: Tx) =>
  tx.rows<Pick<Seal, 'merchant_id' | 'number' | 'until_at' | 'digest'>>(sql`
    select distinct on (merchant_id) merchant_id, number, until_at, digest from ledger_seals
    order by merchant_id, number desc`)

// True for one node only.
export const takeMailOfDay = async (tx: Tx, day: Date, now: Date) =>
  (await tx.count(sql`
    insert into ledger_mails (day_at, sent_at) values (${day}, ${now}) on conflict (day_at) do nothing`)) > 0

// The mail was not sent: another try is made.
export const releaseMailOfDay = (tx: Tx, day: Date) =>
  tx.rows(sql`delete from ledger_mails where day_at = ${day}`)
