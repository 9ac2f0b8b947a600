import { logoPath } from '../../core/merchant/branding.ts'
import type { Logo } from '../../core/merchant/logo/logo.ts'
import { isMerchantId } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { findLogo } from '../../store/merchants/logos.ts'

// The picture at an address, which names its merchant and what it holds; undefined when that merchant has another now.
export async function showLogo(db: Db, merchant_id: string, path: string): Promise<Logo | undefined> {
  if (!isMerchantId(merchant_id)) return undefined
  const logo = await findLogo(db.withQuota('checkout'), merchant_id)
  return logo && logoPath(merchant_id, logo) === path ? logo : undefined
}
