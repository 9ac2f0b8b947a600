import type { Actor } from '../../core/access/audit.ts'
import { logoEntry } from '../../core/access/auditEntries.ts'
import { logoPath } from '../../core/merchant/branding.ts'
import { type Logo, readLogo } from '../../core/merchant/logo/logo.ts'
import { isMerchantId } from '../../runtime/ids.ts'
import { zip } from '../../runtime/zip.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  findLogo,
  findLogoRecord,
  lockMerchant,
  removeLogo,
  saveLogo,
} from '../../store/merchants/merchants.ts'
import { audited } from '../access/audit.ts'

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

export type ChangedLogo = { done: 'saved' | 'unchanged' | 'stale' } | { done: 'refused'; fault: string }

// Sets or removes the logo, unless it was changed since the form was opened. `seen` is its digest then, empty without one;
// without a file the logo is removed.
export const changeLogo = (
  db: Db,
  merchant_id: string,
  { seen, file }: { seen: string; file?: Buffer },
  { actor, now }: { actor: Actor; now: Date },
): Promise<ChangedLogo> =>
  audited(db, actor, now, async (tx, record): Promise<ChangedLogo> => {
    if (!(await lockMerchant(tx, merchant_id))) return { done: 'unchanged' }
    const current = (await findLogoRecord(tx, merchant_id))?.digest ?? ''
    const logo = file && readLogo(file, zip)
    if (typeof logo === 'string') return { done: 'refused', fault: logo }
    if ((logo?.digest ?? '') === current) return { done: 'unchanged' }
    if (current !== seen) return { done: 'stale' }
    if (logo) await saveLogo(tx, merchant_id, logo, now)
    else await removeLogo(tx, merchant_id)
    await record(logoEntry(merchant_id, logo ?? null))
    return { done: 'saved' }
  })
