import type { Membership } from '../../core/access/user.ts'
import type { Mode } from '../../core/mode.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { sql, type Tx } from '../db.ts'

export type TakenKey = { merchant_id: string; user_id: string; tx_reference: string }

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
        join payments p on p.merchant_id = t.merchant_id and p.tx_reference = t.tx_reference
      where t.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id} and t.user_id = ${user_id}
        and t.tx_reference >= ${since} and p.status in ('awaiting_payment', 'failed') and p.expires_at > ${now}
      limit ${most}`)
  ).length

// One payment that this user took; undefined if another one did.
export const findTakenPayment = (tx: Tx, { merchant_id, user_id, tx_reference }: TakenKey) =>
  tx.one<Payment>(sql`
    select p.* from taken_payments t
      join payments p on p.merchant_id = t.merchant_id and p.tx_reference = t.tx_reference
    where t.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id} and t.user_id = ${user_id}
      and t.tx_reference = ${tx_reference}`)

export type TakenRow = Pick<
  Payment,
  'tx_reference' | 'total' | 'currency' | 'status' | 'outlet' | 'created_at' | 'expires_at'
>

// Newest first.
export const listTakenPayments = (
  tx: Tx,
  { merchant_id, user_id, since, mode }: TakenSince & { mode: Mode },
  limit: number,
) =>
  tx.rows<TakenRow>(sql`
    select p.tx_reference, p.total, p.currency, p.status, p.outlet, p.created_at, p.expires_at
    from taken_payments t
      join payments p on p.merchant_id = t.merchant_id and p.tx_reference = t.tx_reference
    where t.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id} and t.user_id = ${user_id}
      and t.tx_reference >= ${since} and t.mode = ${mode}
    order by t.tx_reference desc limit ${limit}`)
