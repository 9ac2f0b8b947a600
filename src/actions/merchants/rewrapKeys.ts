import type { Db } from '../../store/db.ts'
import { listMerchants, lockMerchant, saveWrappedKey } from '../../store/merchants/merchants.ts'
import { type MasterKeys, masterKeyId, rewrapKey } from '../../store/merchants/vault.ts'

export type Rewrapped = { changed: number; failed: string[] }

// Wraps the data keys of all merchants with the newest master key, one at a time. The sealed secrets do not change. A
// merchant whose key cannot be opened is reported in `failed`. It is safe to stop and to run again.
export async function rewrapKeys(db: Db, masterKeys: MasterKeys): Promise<Rewrapped> {
  const newest = masterKeyId(masterKeys.newest())
  const rewrapped: Rewrapped = { changed: 0, failed: [] }
  for (const { merchant_id, master_key_id } of await listMerchants(db)) {
    if (master_key_id === newest) continue
    if (await rewrapMerchant(db, masterKeys, merchant_id)) rewrapped.changed++
    else rewrapped.failed.push(merchant_id)
  }
  return rewrapped
}

const rewrapMerchant = (db: Db, masterKeys: MasterKeys, merchant_id: string): Promise<boolean> =>
  db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    const key = merchant && rewrapKey(masterKeys, merchant_id, merchant)
    if (key) await saveWrappedKey(tx, merchant_id, key)
    return key !== undefined
  })
