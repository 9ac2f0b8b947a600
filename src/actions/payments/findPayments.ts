import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import {
  lastReadReference,
  listPayments,
  type PaymentFilter,
  searchPayments,
} from '../../store/payments/payments.ts'

// By our reference or by an invoice id; an invoice id can belong to several merchants and modes.
export async function searchEverywhere(db: Db, text: string, merchant_id?: string): Promise<Payment[]> {
  const ids = merchant_id ? [merchant_id] : (await listMerchants(db)).map(merchant => merchant.merchant_id)
  return searchPayments(db, ids, text)
}

const maxRead = 200_000 // of one merchant: an answer within a second, whatever the filter

// `before`: there are older payments that were not read. The list continues there.
type NewestPayments = { payments: Payment[]; before: string | undefined }

// The newest payments of one merchant, or of all merchants.
export async function newestPayments(
  db: Db,
  { merchant_id, ...filter }: PaymentFilter & { merchant_id?: string },
  most = maxRead,
): Promise<NewestPayments> {
  const ids = merchant_id ? [merchant_id] : (await listMerchants(db)).map(merchant => merchant.merchant_id)
  const lists: Payment[][] = []
  let before: string | undefined
  for (const id of ids) {
    const found = await listPayments(db, id, filter, most)
    lists.push(found)
    const last = found.length < filter.limit ? await lastReadReference(db, id, filter, most) : undefined
    if (last !== undefined && (before === undefined || last > before)) before = last
  }
  const payments = lists
    .flat()
    .filter(({ tx_reference }) => before === undefined || tx_reference >= before) // older ones come with the next page
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
  return {
    payments: payments.slice(0, filter.limit),
    before: payments.length < filter.limit ? before : undefined,
  }
}
