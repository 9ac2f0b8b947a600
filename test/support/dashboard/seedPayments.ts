import type { Mode } from '../../../src/core/mode.ts'
import type { Status } from '../../../src/core/payment/payment.ts'
import { reference } from '../../../src/core/payment/reference.ts'
import { newAttemptId, newToken } from '../../../src/runtime/ids.ts'
import { type Db, sql } from '../../../src/store/db.ts'

export type SeededPayment = {
  merchant_id: string
  mode?: Mode
  at: Date // of the request
  status?: Status
  reason?: string
  total?: bigint
  currency?: string
  method?: string | null
  outlet?: string | null
  invoice_id?: string
  paidAfterMs?: number
  fee?: bigint // of the gateway
}

let seeded = 0
let tails = 0

// A payment of the past with its attempt and its transfers, as the gateway would have written them by then.
export async function seedPayment(db: Db, given: SeededPayment) {
  const {
    merchant_id,
    at,
    status = 'paid',
    reason = '',
    total = 2500n,
    currency = 'GHS',
    outlet = null,
  } = given
  const { mode = 'live', method = 'mtn_mobile_money', paidAfterMs = 30_000, fee = 0n } = given
  const tx_reference = reference(at.getTime(), ++tails) // sorts by its time, also if it is seeded late
  const attempt_id = newAttemptId(merchant_id)
  const paidAt = new Date(at.getTime() + paidAfterMs)
  const isPaid = status === 'paid'
  const invoice_id = given.invoice_id ?? `S-${++seeded}`
  await db.rows(sql`
    insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, status_reason, total, currency,
      request_digest, payment_method, outlet, created_at, updated_at, expires_at, paid_attempt_id)
    values (${merchant_id}, ${tx_reference}, ${mode}, ${invoice_id}, ${newToken(merchant_id, at)}, ${status}, ${reason},
      ${total}, ${currency}, '', ${method}, ${outlet}, ${at}, ${at}, ${new Date(at.getTime() + 3_600_000)},
      ${isPaid ? attempt_id : null})`)
  if (method !== null && status !== 'awaiting_payment')
    await db.rows(sql`
      insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, payment_method, state,
        created_at, updated_at, ended_at)
      values (${merchant_id}, ${attempt_id}, ${tx_reference}, 1, 'sandbox', ${mode}, ${method},
        ${isPaid ? 'paid' : 'failed'}, ${at}, ${paidAt}, ${paidAt})`)
  const transfer = (kind: string, debit: string, credit: string, amount: bigint) =>
    db.rows(sql`
      insert into transfers (merchant_id, transfer_id, mode, currency, debit_account, credit_account, amount, kind,
        tx_reference, attempt_id, happened_at, created_at)
      values (${merchant_id}, ${`${tx_reference}/${attempt_id}/${kind}`}, ${mode}, ${currency}, ${debit}, ${credit},
        ${amount}, ${kind}, ${tx_reference}, ${attempt_id}, ${paidAt}, ${paidAt})`)
  if (isPaid) await transfer('charge', 'provider:sandbox', 'merchant', total)
  if (isPaid && fee > 0n) await transfer('gateway_fee', 'merchant', 'gateway_fees', fee)
  return { merchant_id, tx_reference, attempt_id, invoice_id }
}
