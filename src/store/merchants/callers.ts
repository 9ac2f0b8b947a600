import { keyReadings } from '../../core/interface/signature.ts'
import {
  readMerchantSettings,
  type SettingName,
  type MerchantSettings,
  type SettingTexts,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import { named, type Tx } from '../db.ts'
import { type MasterKeys, openSecret, unwrapKey, type WrappedKey } from './vault.ts'

// The client of an API request: a merchant in one mode, identified by one of its keys.
export type Caller = {
  merchant_id: string
  merchant_key: string
  mode: Mode
  name: string
  active: boolean
  settings: MerchantSettings
  unreadable: readonly SettingName[] // settings that cannot be read and have their default
  secrets: readonly Buffer[] // the key's secret in each accepted encoding
  sealed: unknown // the error if the secret cannot be opened; `secrets` is empty then
  outlets: ReadonlySet<string>
  expires_at: Date | null
}

type CallerRow = WrappedKey &
  Pick<Caller, 'merchant_id' | 'merchant_key' | 'mode' | 'name' | 'active' | 'expires_at'> & {
    sealed_secret: Buffer
    settings: SettingTexts
    outlets: string[] | null
  }

export async function findCallers(
  tx: Tx,
  masterKeys: MasterKeys,
  merchant_keys: string[],
): Promise<Caller[]> {
  const rows = await tx.rows<CallerRow>(named('find_callers')`
    select k.merchant_id, k.merchant_key, k.mode, k.sealed_secret, k.expires_at,
      m.name, m.active, m.settings, m.master_key_id, m.wrapped_key,
      (select array_agg(o.code) from outlets o where o.merchant_id = k.merchant_id) as outlets
    from merchant_keys k join merchants m on m.merchant_id = k.merchant_id
    where k.merchant_key = any(${merchant_keys})`)
  return rows.map(({ sealed_secret, master_key_id, wrapped_key, outlets, settings, ...row }) => ({
    ...row,
    settings: readMerchantSettings(settings),
    unreadable: unreadableSettings(settings),
    ...secretsOf(masterKeys, { ...row, sealed_secret, master_key_id, wrapped_key }),
    outlets: new Set(outlets ?? []),
  }))
}

type SealedRow = Omit<CallerRow, 'settings' | 'outlets'>

// A secret that cannot be opened affects this caller only.
function secretsOf(masterKeys: MasterKeys, row: SealedRow): Pick<Caller, 'secrets' | 'sealed'> {
  const purpose = apiSecretPurpose(row.merchant_id, row.mode, row.merchant_key)
  try {
    const secret = openSecret(unwrapKey(masterKeys, row.merchant_id, row), purpose, row.sealed_secret)
    return { secrets: keyReadings(secret), sealed: undefined }
  } catch (error) {
    return { secrets: [], sealed: error }
  }
}

// The purpose is bound into a sealed secret. It contains the mode, so that a test key cannot be made live by changing its
// row.
export const apiSecretPurpose = (merchant_id: string, mode: Mode, merchant_key: string) =>
  `${merchant_id}/api/${mode}/${merchant_key}`
export const ipnPasswordPurpose = (merchant_id: string, mode: Mode) => `${merchant_id}/ipn-password/${mode}`
export const ipnSecretPurpose = (merchant_id: string, mode: Mode, secret_id: string) =>
  `${merchant_id}/ipn/${mode}/${secret_id}`
