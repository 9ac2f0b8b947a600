import { logoPath } from '../../core/merchant/branding.ts'
import { type Logo, readLogo } from '../../core/merchant/logo/logo.ts'
import { isMerchantId } from '../../runtime/ids.ts'
import { zip } from '../../runtime/zip.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findLogo, saveLogo } from '../../store/merchants/merchants.ts'

// Returns the stored logo, or the reason why the picture is refused.
export async function setLogo(db: Tx, merchant_id: string, file: Buffer, now: Date): Promise<Logo | string> {
  const logo = readLogo(file, zip)
  if (typeof logo !== 'string') await saveLogo(db, merchant_id, logo, now)
  return logo
}

// The path contains the digest of the picture. Undefined if the merchant has another logo by now.
export async function showLogo(db: Db, merchant_id: string, path: string): Promise<Logo | undefined> {
  if (!isMerchantId(merchant_id)) return undefined
  const logo = await findLogo(db.withQuota('checkout'), merchant_id)
  return logo && logoPath(merchant_id, logo) === path ? logo : undefined
}
