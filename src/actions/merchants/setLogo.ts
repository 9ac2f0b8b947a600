import { type Logo, readLogo } from '../../core/merchant/logo/logo.ts'
import { zip } from '../../runtime/zip.ts'
import type { Db } from '../../store/db.ts'
import { saveLogo } from '../../store/merchants/logos.ts'

// From now on the merchant's pages show this picture. Gives back the words that say why they cannot.
export async function setLogo(db: Db, merchant_id: string, given: Buffer, now: Date): Promise<Logo | string> {
  const logo = readLogo(given, zip)
  if (typeof logo !== 'string') await saveLogo(db, merchant_id, logo, now)
  return logo
}
