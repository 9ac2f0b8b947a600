import type { Actor } from '../../core/access/audit.ts'
import { activeEntry } from '../../core/access/auditEntries.ts'
import { isPlainText } from '../../core/text.ts'
import type { Db } from '../../store/db.ts'
import { newestKeyHandover } from '../../store/merchants/keyHandovers.ts'
import { findMerchant, listOutlets, lockMerchant, setActive } from '../../store/merchants/merchants.ts'
import {
  type ListedMerchant,
  type MerchantPlace,
  merchantsByIdOrKey,
  merchantsByName,
} from '../../store/merchants/merchantSearch.ts'
import { audited } from '../access/audit.ts'
import { mailOwners } from '../access/mailOwners.ts'

const pageLength = 50
const maxTyped = 100

export type { ListedMerchant }
type MerchantPageList = { merchants: readonly ListedMerchant[]; next: MerchantPlace | undefined }

// The merchants by name, one page. A text finds the merchant with this id or key, or those whose name begins with it.
export async function findMerchants(
  db: Db,
  typed: string,
  after: MerchantPlace | undefined,
): Promise<MerchantPageList> {
  const text = isPlainText(typed) ? typed.trim().slice(0, maxTyped) : ''
  if (text !== '' && !after) {
    const exact = await merchantsByIdOrKey(db, text)
    if (exact.length > 0) return { merchants: exact, next: undefined }
  }
  const found = await merchantsByName(db, text, after, pageLength + 1)
  const merchants = found.slice(0, pageLength)
  return { merchants, next: found.length > pageLength ? merchants.at(-1) : undefined }
}

export type MerchantView = NonNullable<Awaited<ReturnType<typeof readMerchantView>>>

export async function readMerchantView(db: Db, merchant_id: string) {
  if (!isPlainText(merchant_id)) return undefined
  const merchant = await findMerchant(db, merchant_id)
  if (!merchant) return undefined
  const [outlets, handover] = await Promise.all([
    listOutlets(db, merchant_id),
    newestKeyHandover(db, merchant_id),
  ])
  return { merchant, outlets, handover }
}

// Idempotent: a merchant that is in this state already is not changed, and nothing is recorded.
export const changeActive = (
  db: Db,
  change: { merchant_id: string; active: boolean; actor: Actor; by: string },
  now: Date,
): Promise<'changed' | 'already' | undefined> =>
  audited(db, change.actor, now, async (tx, record) => {
    const { merchant_id, active, by } = change
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return undefined
    if (merchant.active === active) return 'already'
    await setActive(tx, merchant_id, active)
    await record(activeEntry(merchant_id, active))
    await mailOwners(tx, merchant_id, { change: 'settings', by }, now)
    return 'changed'
  })
