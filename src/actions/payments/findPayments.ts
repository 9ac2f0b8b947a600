import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import {
  lastLookedAt,
  listPayments,
  type PaymentFilter,
  searchPayments,
} from '../../store/payments/payments.ts'

// By our reference or by an invoice id; an invoice id can belong to several merchants and modes.
export async function searchEverywhere(db: Db, word: string, merchant_id?: string): Promise<Payment[]> {
  const ids = merchant_id ? [merchant_id] : (await listMerchants(db)).map(merchant => merchant.merchant_id)
  return searchPayments(db, ids, word)
}

const mostLooked = 200_000 // of one merchant: an answer within a second, whatever is asked for

// `before`: there are older ones that were not looked at. Asked with it, the list goes on there.
export type NewestPayments = { payments: Payment[]; before: string | undefined }

// The newest of one merchant, or of all.
export async function newestPayments(
  db: Db,
  { merchant_id, ...filter }: PaymentFilter & { merchant_id?: string },
  most = mostLooked,
): Promise<NewestPayments> {
  const ids = merchant_id ? [merchant_id] : (await listMerchants(db)).map(merchant => merchant.merchant_id)
  const lists: Payment[][] = []
  let before: string | undefined
  for (const id of ids) {
    const found = await listPayments(db, id, filter, most)
    lists.push(found)
    const last = found.length < filter.limit ? await lastLookedAt(db, id, filter, most) : undefined
    if (last !== undefined && (before === undefined || last > before)) before = last
  }
  const payments = lists
    .flat()
    .filter(({ tx_reference }) => before === undefined || tx_reference >= before) // the others come with the rest
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
  return {
    payments: payments.slice(0, filter.limit),
    before: payments.length < filter.limit ? before : undefined,
  }
}
