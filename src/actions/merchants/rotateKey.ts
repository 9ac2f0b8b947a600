import type { Mode } from '../../core/mode.ts'
import { newMerchantKey, newSecretKey } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { apiSecretPurpose } from '../../store/merchants/callers.ts'
import { addMerchantKey, expireMerchantKeys } from '../../store/merchants/merchantKeys.ts'
import { lockMerchant } from '../../store/merchants/merchants.ts'
import { type MasterKeys, sealSecret, unwrapKey } from '../../store/merchants/vault.ts'

export type RotatedKey = {
  merchant_id: string
  mode: Mode
  merchant_key: string
  secret_key: string
  old_keys_valid_until: string
}

// Issues a new key and secret; the older ones of the mode go on working for the overlap. Gives back
// undefined when there is no such merchant.
export function rotateKey(
  db: Db,
  masterKeys: MasterKeys,
  merchant_id: string,
  mode: Mode,
  overlapMs: number,
  now: Date,
): Promise<RotatedKey | undefined> {
  const merchant_key = newMerchantKey(mode)
  const secret_key = newSecretKey()
  const until = new Date(now.getTime() + overlapMs)
  return db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return undefined
    const dataKey = unwrapKey(masterKeys, merchant_id, merchant)
    const sealed_secret = sealSecret(dataKey, apiSecretPurpose(merchant_id, mode, merchant_key), secret_key)
    await addMerchantKey(tx, {
      merchant_id,
      merchant_key,
      mode,
      sealed_secret,
      created_at: now,
      expires_at: null,
    })
    await expireMerchantKeys(tx, merchant_id, mode, merchant_key, until)
    return { merchant_id, mode, merchant_key, secret_key, old_keys_valid_until: until.toISOString() }
  })
}
