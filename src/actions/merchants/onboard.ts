import type { Mode } from '../../core/mode.ts'
import { newIpnSecret, newMerchantId, newMerchantKey, newSecretId, newSecretKey } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { apiSecretPurpose, ipnSecretPurpose } from '../../store/merchants/callers.ts'
import { addIpnSecret } from '../../store/merchants/ipnSecrets.ts'
import { addMerchantKey } from '../../store/merchants/merchantKeys.ts'
import { addMerchant } from '../../store/merchants/merchants.ts'
import { type MasterKeys, newDataKey, sealSecret, wrapKey } from '../../store/merchants/vault.ts'

export type Credentials = { merchant_key: string; secret_key: string; ipn_secret: string }
export type Onboarded = { merchant_id: string; name: string } & Partial<Record<Mode, Credentials>>

// Registers a merchant. This is the only time its secrets are seen in clear.
export async function onboard(
  db: Db,
  masterKeys: MasterKeys,
  name: string,
  modes: readonly Mode[],
  now: Date,
  merchant_id = newMerchantId(),
): Promise<Onboarded> {
  const dataKey = newDataKey()
  const wrapped = wrapKey(masterKeys, merchant_id, dataKey)
  const issued = modes.map(mode => ({
    mode,
    secret_id: newSecretId(),
    credentials: {
      merchant_key: newMerchantKey(mode),
      secret_key: newSecretKey(),
      ipn_secret: newIpnSecret(),
    },
  }))
  await db.transaction(async tx => {
    await addMerchant(tx, { merchant_id, name, active: true, settings: {}, ...wrapped, created_at: now })
    for (const { mode, secret_id, credentials } of issued) {
      const { merchant_key, secret_key, ipn_secret } = credentials
      const api = sealSecret(dataKey, apiSecretPurpose(merchant_id, mode, merchant_key), secret_key)
      const ipn = sealSecret(dataKey, ipnSecretPurpose(merchant_id, mode, secret_id), ipn_secret)
      const dates = { created_at: now, expires_at: null }
      await addMerchantKey(tx, { merchant_id, merchant_key, mode, sealed_secret: api, ...dates })
      await addIpnSecret(tx, { merchant_id, mode, secret_id, sealed_secret: ipn, ...dates })
    }
  })
  return {
    merchant_id,
    name,
    ...Object.fromEntries(issued.map(({ mode, credentials }) => [mode, credentials])),
  }
}
