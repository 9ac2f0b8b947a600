import type { Membership } from '../../core/access/user.ts'
import type { Mode } from '../../core/mode.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { sql, type Tx } from '../db.ts'

export type TakenKey = { merchant_id: string; user_id: string; tx_reference: string }

// The column has the collation "C", so that ranges of it are fast. Compared by it, the key of payments would not be used.
const takenReference = sql`t.tx_reference collate "default"`

// The rights of the user as they are now. Payments of one user are taken one after the other, so that two at once do not
// pass a limit.
export const lockTaker = (tx: Tx, merchant_id: string, user_id: string) =>
  tx.one<Membership>(sql`
    select * from memberships where merchant_id = ${merchant_id} and user_id = ${user_id} for update`)

export const addTakenPayment = (tx: Tx, t: TakenKey & { mode: Mode }) =>
  tx.rows(sql`
    insert into taken_payments (merchant_id, tx_reference, user_id, mode)
    values (${t.merchant_id}, ${t.tx_reference}, ${t.user_id}, ${t.mode})
    on conflict (merchant_id, tx_reference) do nothing`)

type TakenSince = { merchant_id: string; user_id: string; since: string } // since: the smallest reference

// In both modes, up to `most`.
export const countTaken = async (tx: Tx, { merchant_id, user_id, since }: TakenSince, most: number) =>
  (
    await tx.rows(sql`
      select 1 from taken_payments
      where merchant_id = ${merchant_id} and user_id = ${user_id} and tx_reference >= ${since} limit ${most}`)
  ).length

export const countOpenTaken = async (
  tx: Tx,
  { merchant_id, user_id, since }: TakenSince,
  now: Date,
  most: number,
) =>
  (
    await tx.rows(sql`
      select 1 from taken_payments t
        join payments p on p.merchant_id = t.merchant_id and p.tx_reference = ${takenReference}
      where t.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id} and t.user_id = ${user_id}
        and t.tx_reference >= ${since} and p.status in ('awaiting_payment', 'failed') and p.expires_at > ${now}
      limit ${most}`)
  ).length

// One payment that this user took; undefined if another one did.
export const findTakenPayment = (tx: Tx, { merchant_id, user_id, tx_reference }: TakenKey) =>
  tx.one<Payment>(sql`
    select p.* from taken_payments t
      join payments p on p.merchant_id = t.merchant_id and p.tx_reference = ${takenReference}
    where t.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id} and t.user_id = ${user_id}
      and t.tx_reference = ${tx_reference}`)

export type TakenRow = Pick<
  Payment,
  'tx_reference' | 'total' | 'currency' | 'status' | 'outlet' | 'created_at' | 'expires_at'
> & { user_id: string }

const takenColumns = sql`p.tx_reference, p.total, p.currency, p.status, p.outlet, p.created_at, p.expires_at, t.user_id`

// Newest first.
export const listTakenPayments = (
  tx: Tx,
  { merchant_id, user_id, since, mode }: TakenSince & { mode: Mode },
  limit: number,
) =>
  tx.rows<TakenRow>(sql`
    select ${takenColumns}
    from taken_payments t
      join payments p on p.merchant_id = t.merchant_id and p.tx_reference = ${takenReference}
    where t.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id} and t.user_id = ${user_id}
      and t.tx_reference >= ${since} and t.mode = ${mode}
    order by t.tx_reference desc limit ${limit}`)

type TakenAtOutlet = { merchant_id: string; outlet: string; since: string; mode: Mode }

// Those that any user took at one outlet, newest first. Of the merchant's, which are a range of the key, the newest `most` are
// read; `isCut`: there are more.
export async function listTakenAtOutlet(
  tx: Tx,
  { merchant_id, outlet, since, mode }: TakenAtOutlet,
  most: number,
): Promise<{ rows: TakenRow[]; isCut: boolean }> {
  const recent = sql`
    select * from taken_payments
    where merchant_id = ${merchant_id} and tx_reference >= ${since} and mode = ${mode}
    order by tx_reference desc`
  const rows = await tx.rows<TakenRow>(sql`
    select ${takenColumns}
    from (${recent} limit ${most}) t
      join payments p on p.merchant_id = t.merchant_id and p.tx_reference = ${takenReference}
    where p.merchant_id = ${merchant_id} and p.outlet = ${outlet}
    order by t.tx_reference desc`)
  return { rows, isCut: (await tx.rows(sql`${recent} offset ${most} limit 1`)).length > 0 }
}
