import { sql, type Tx } from '../db.ts'

export type LedgerSearch = { merchant_id: string; behind: string; passes: number; due_at: Date }

export const findSearch = (tx: Tx, merchant_id: string) =>
  tx.one<LedgerSearch>(sql`select * from ledger_searches where merchant_id = ${merchant_id}`)

export const saveSearch = (tx: Tx, s: LedgerSearch) =>
  tx.rows(sql`
    insert into ledger_searches (merchant_id, behind, passes, due_at)
    values (${s.merchant_id}, ${s.behind}, ${s.passes}, ${s.due_at})
    on conflict (merchant_id) do update set behind = excluded.behind, passes = excluded.passes,
      due_at = excluded.due_at`)

// The reference of the last payment among the next attempts. Undefined: there are no more.
export const endOfNextAttempts = async (tx: Tx, merchant_id: string, behind: string, attempts: number) =>
  (
    await tx.one<{ tx_reference: string | null }>(sql`
      select max(tx_reference) as tx_reference from (
        select tx_reference from attempts where merchant_id = ${merchant_id} and tx_reference > ${behind}
        order by tx_reference limit ${attempts}) as next`)
  )?.tx_reference ?? undefined

type ReferenceRange = { merchant_id: string; behind: string; last: string }

const endsWith = (end: ReturnType<typeof sql>) => sql`and right(t.transfer_id, length(${end})) = ${end}`

// Payments with a charge, a reversal or a dispute that no transfer may have been made for. Reversals above the charge and
// some disputes have none, so the caller decides.
export async function unbookedPayments(
  tx: Tx,
  { merchant_id, behind, last }: ReferenceRange,
): Promise<string[]> {
  const isInRange = (table: string) => sql`
    ${sql([table])}.merchant_id = ${merchant_id} and ${sql([table])}.tx_reference > ${behind}
    and ${sql([table])}.tx_reference <= ${last}`
  const hasTransfer = (table: string, condition: ReturnType<typeof sql>) => sql`
    exists (select from transfers t where t.merchant_id = ${merchant_id}
      and t.transfer_id >= ${sql([table])}.tx_reference || '/' and t.transfer_id < ${sql([table])}.tx_reference || '0'
      and t.attempt_id = ${sql([table])}.attempt_id ${condition})`
  const rows = await tx.rows<{ tx_reference: string }>(sql`
    select a.tx_reference from attempts a where ${isInRange('a')} and (a.state = 'paid' or a.charged is not null)
      and not ${hasTransfer('a', sql`and t.kind in ('charge', 'unmatched_charge', 'customer_fee', 'provider_fee')`)}
    union
    select r.tx_reference from reversals r where ${isInRange('r')} and r.refund_reference is null
      and not ${hasTransfer('r', endsWith(sql`'/reversal/' || r.reversal_id`))}
    union
    select d.tx_reference from disputes d where ${isInRange('d')}
      and not ${hasTransfer('d', endsWith(sql`'/dispute/' || d.dispute_id || '/opened'`))}
    order by 1`)
  return rows.map(({ tx_reference }) => tx_reference)
}

export type WrongCharge = { tx_reference: string; attempt_id: string; recorded: bigint; booked: bigint }

// Charges whose ledger differs from the records: what was charged, minus the provider's fee, refunds, reversals and lost
// disputes. Also charges that are not booked at all, if nothing is left of them. The transfers of the merchant's own accounts
// are compared without what takes them back.
export const wrongCharges = (tx: Tx, merchant_id: string, limit: number) =>
  tx.rows<WrongCharge>(sql`
    with charges as (
      select a.attempt_id, a.tx_reference, coalesce(a.charged, p.total) as charged, coalesce(a.fee, 0) as fee
      from attempts a join payments p on p.merchant_id = a.merchant_id and p.tx_reference = a.tx_reference
      where a.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id}
        and (a.state = 'paid' or a.charged is not null)),
    back as (
      select attempt_id, sum(amount) as amount from (
        select attempt_id, amount from reversals where merchant_id = ${merchant_id} and refund_reference is null
        union all
        select attempt_id, amount from disputes where merchant_id = ${merchant_id} and state = 'lost') as b
      group by attempt_id),
    refunded as (
      select f.attempt_id, sum(f.amount) as amount
      from refunds f left join provider_accounts o on o.account = f.provider_account and o.merchant_id = f.merchant_id
      where f.merchant_id = ${merchant_id} and f.state = 'succeeded' and (f.kind = 'provider' or o.account is not null)
      group by f.attempt_id),
    recorded as (
      select c.tx_reference, c.attempt_id, c.charged, c.charged - case when c.charged > 0 then c.fee else 0 end
        - least(coalesce(back.amount, 0), c.charged) - coalesce(refunded.amount, 0) as amount
      from charges c left join back on back.attempt_id = c.attempt_id
        left join refunded on refunded.attempt_id = c.attempt_id),
    booked as (
      select attempt_id, min(tx_reference) as tx_reference,
        sum(case when debit_account like 'provider:%' then amount else -amount end) as amount
      from transfers
      where merchant_id = ${merchant_id} and kind <> 'own_account' and attempt_id is not null
        and (debit_account like 'provider:%' or credit_account like 'provider:%')
      group by attempt_id)
    select coalesce(r.tx_reference, b.tx_reference) as tx_reference, coalesce(r.attempt_id, b.attempt_id) as attempt_id,
      coalesce(r.amount, 0)::bigint as recorded, coalesce(b.amount, 0)::bigint as booked
    from recorded r full join booked b on b.attempt_id = r.attempt_id
    where coalesce(r.amount, 0) <> coalesce(b.amount, 0) or (r.charged > 0 and b.attempt_id is null)
    order by 1, 2 limit ${limit}`)
