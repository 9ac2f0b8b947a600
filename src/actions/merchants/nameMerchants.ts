import type { NewPayment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'

// Each of these with the name of its merchant, which people know better than the id.
export async function nameMerchants<T extends Pick<NewPayment, 'merchant_id'>>(db: Db, of: readonly T[]) {
  const names = new Map((await listMerchants(db)).map(({ merchant_id, name }) => [merchant_id, name]))
  return of.map(one => ({ ...one, merchant_name: names.get(one.merchant_id) ?? '' }))
}
