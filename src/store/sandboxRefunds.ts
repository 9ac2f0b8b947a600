import type { Currency } from '../core/money.ts'
import { type Db, sql, type Tx } from './db.ts'

// A refund at the simulated provider.
export type SandboxRefund = {
  merchant_id: string // the first characters of the reference
  reference: string
  charge: string
  amount: bigint
  currency: Currency
  ending: string
  is_final_failure: boolean
  callback_url: string
  created_at: Date
}

export type NewSandboxRefund = Omit<SandboxRefund, 'merchant_id'>

const merchantIdLength = 10
const merchantOf = (reference: string) => reference.slice(0, merchantIdLength)

// `most`: what the charge took. The lock on the charge keeps two refunds from exceeding it together.
export const insertSandboxRefund = (
  db: Db,
  r: NewSandboxRefund,
  most: bigint,
): Promise<SandboxRefund | 'exists' | 'too_much'> =>
  db.transaction(async tx => {
    await tx.rows(sql`
      select from sandbox_charges
      where merchant_id = ${merchantOf(r.charge)} and reference = ${r.charge} for update`)
    if (await findSandboxRefund(tx, r.reference)) return 'exists'
    const inserted = await tx.one<SandboxRefund>(sql`
      insert into sandbox_refunds (merchant_id, reference, charge, amount, currency, ending, is_final_failure,
        callback_url, created_at)
      select ${merchantOf(r.reference)}, ${r.reference}, ${r.charge}, ${r.amount}, ${r.currency}, ${r.ending},
        ${r.is_final_failure}, ${r.callback_url}, ${r.created_at}
      where ${most}::bigint >= ${r.amount}::bigint + coalesce((select sum(amount) from sandbox_refunds
        where merchant_id = ${merchantOf(r.charge)} and charge = ${r.charge} and not is_final_failure), 0)
      on conflict (merchant_id, reference) do nothing
      returning *`)
    return inserted ?? 'too_much'
  })

export const findSandboxRefund = (tx: Tx, reference: string) =>
  tx.one<SandboxRefund>(sql`
    select * from sandbox_refunds
    where merchant_id = ${merchantOf(reference)} and reference = ${reference}`)
