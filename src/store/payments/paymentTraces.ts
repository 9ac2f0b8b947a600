import { sql, type Tx } from '../db.ts'
import type { PaymentKey } from './paymentKeys.ts'

// The stored trace context of a payment, by each key that a request or a job has.

type Traced = { traceparent: string | null }

export const traceparentOf = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.one<Traced>(sql`
    select traceparent from payments where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}`)

export const traceparentByToken = (tx: Tx, merchant_id: string, tx_token: string) =>
  tx.one<Traced>(sql`
    select traceparent from payments where merchant_id = ${merchant_id} and tx_token = ${tx_token}`)

export const traceparentByAttempt = (tx: Tx, merchant_id: string, attempt_id: string) =>
  tx.one<Traced>(sql`
    select p.traceparent from attempts a join payments p using (merchant_id, tx_reference)
    where a.merchant_id = ${merchant_id} and a.attempt_id = ${attempt_id} and p.merchant_id = ${merchant_id}`)
