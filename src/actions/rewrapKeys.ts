import type { Db } from '../store/db.ts'
import { listMerchants, lockMerchant, saveWrappedKey } from '../store/merchants.ts'
import { type MasterKeys, masterKeyId, unwrapKey, wrapKey } from '../store/vault.ts'

// Wraps every data key with the newest master key, one merchant at a time; the sealed secrets stay as they
// are. Gives back how many were changed. Safe to stop and to run again.
export async function rewrapKeys(db: Db, masterKeys: MasterKeys): Promise<number> {
  const newest = masterKeyId(masterKeys.newest())
  let changed = 0
  for (const { merchant_id, master_key_id } of await listMerchants(db)) {
    if (master_key_id === newest) continue
    await db.transaction(async tx => {
      const merchant = await lockMerchant(tx, merchant_id)
      if (!merchant) return
      const dataKey = unwrapKey(masterKeys, merchant_id, merchant)
      await saveWrappedKey(tx, merchant_id, wrapKey(masterKeys, merchant_id, dataKey))
    })
    changed++
  }
  return changed
}
