import type { Db } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'

// The merchant whose part of the dashboard is opened.
export async function dashboardMerchant(db: Db, merchant_id: string) {
  const merchant = await findMerchant(db, merchant_id)
  return merchant && { merchant_id, name: merchant.name }
}
