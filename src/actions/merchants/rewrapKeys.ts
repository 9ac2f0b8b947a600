import type { Db } from '../../store/db.ts'
import { listMerchants, lockMerchant, saveWrappedKey } from '../../store/merchants/merchants.ts'
import { type MasterKeys, masterKeyId, unwrapKey, wrapKey } from '../../store/merchants/vault.ts'

export type Rewrapped = { changed: number; failed: string[] }

// Wraps every data key of a merchant with the newest master key, one at a time; the sealed secrets stay as they
// are. A merchant whose key does not open is passed over and named. Safe to stop and to run again.
export async function rewrapKeys(db: Db, masterKeys: MasterKeys): Promise<Rewrapped> {
  const newest = masterKeyId(masterKeys.newest())
  const rewrapped: Rewrapped = { changed: 0, failed: [] }
  for (const { merchant_id, master_key_id } of await listMerchants(db)) {
    if (master_key_id === newest) continue
    if (await rewrapKey(db, masterKeys, merchant_id)) rewrapped.changed++
    else rewrapped.failed.push(merchant_id)
  }
  return rewrapped
}

function rewrapKey(db: Db, masterKeys: MasterKeys, merchant_id: string): Promise<boolean> {
  return db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    const dataKey = merchant && openKey(masterKeys, merchant_id, merchant)
    if (!dataKey) return false
    await saveWrappedKey(tx, merchant_id, wrapKey(masterKeys, merchant_id, dataKey))
    return true
  })
}

function openKey(...sealed: Parameters<typeof unwrapKey>): Buffer | undefined {
  try {
    return unwrapKey(...sealed)
  } catch {
    return undefined
  }
}
