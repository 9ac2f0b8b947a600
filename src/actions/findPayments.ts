import type { LivingPayment } from '../core/payment.ts'
import type { Db } from '../store/db.ts'
import { listMerchants } from '../store/merchants.ts'
import { listPayments, type PaymentFilter, searchPayments } from '../store/payments.ts'

// By our reference or by an invoice id; an invoice id can belong to several merchants and modes.
export async function searchEverywhere(db: Db, word: string, merchant_id?: string): Promise<LivingPayment[]> {
  const ids = merchant_id ? [merchant_id] : (await listMerchants(db)).map(merchant => merchant.merchant_id)
  return searchPayments(db, ids, word)
}

// The newest of one merchant, or of all.
export async function newestPayments(db: Db, filter: PaymentFilter & { merchant_id?: string }) {
  const ids = filter.merchant_id
    ? [filter.merchant_id]
    : (await listMerchants(db)).map(merchant => merchant.merchant_id)
  const lists: LivingPayment[][] = []
  for (const id of ids) lists.push(await listPayments(db, id, filter))
  return lists
    .flat()
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
    .slice(0, filter.limit)
}
