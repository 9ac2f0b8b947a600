import { keyReadings } from '../../core/interface/signature.ts'
import {
  readMerchantSettings,
  type SettingName,
  type MerchantSettings,
  type SettingWords,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import { named, type Tx } from '../db.ts'
import { type MasterKeys, openSecret, unwrapKey, type WrappedKey } from './vault.ts'

// Who is asking: a merchant in one mode, as one of its keys shows it.
export type Caller = {
  merchant_id: string
  merchant_key: string
  mode: Mode
  name: string
  active: boolean
  settings: MerchantSettings
  unreadable: readonly SettingName[] // settings that stand at their default because nobody can read them
  secrets: readonly Buffer[] // every reading of the key's secret
  sealed: unknown // why the secret cannot be opened; then there is none
  outlets: ReadonlySet<string>
  expires_at: Date | null
}

type Row = WrappedKey & {
  merchant_id: string
  merchant_key: string
  mode: Mode
  sealed_secret: Buffer
  expires_at: Date | null
  name: string
  active: boolean
  settings: SettingWords
  outlets: string[] | null
}

export async function findCallers(
  tx: Tx,
  masterKeys: MasterKeys,
  merchant_keys: string[],
): Promise<Caller[]> {
  const rows = await tx.rows<Row>(named('find_callers')`
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

// Each for itself: what cannot be opened is this caller's trouble alone.
function secretsOf(
  masterKeys: MasterKeys,
  row: Pick<Row, 'merchant_id' | 'mode' | 'merchant_key' | 'sealed_secret'> & WrappedKey,
): Pick<Caller, 'secrets' | 'sealed'> {
  const purpose = apiSecretPurpose(row.merchant_id, row.mode, row.merchant_key)
  try {
    const secret = openSecret(unwrapKey(masterKeys, row.merchant_id, row), purpose, row.sealed_secret)
    return { secrets: keyReadings(secret), sealed: undefined }
  } catch (error) {
    return { secrets: [], sealed: error }
  }
}

// What a sealed secret is for. The mode is part of it: a test key that is turned live by hand opens nothing.
export const apiSecretPurpose = (merchant_id: string, mode: Mode, merchant_key: string) =>
  `${merchant_id}/api/${mode}/${merchant_key}`
export const ipnPasswordPurpose = (merchant_id: string, mode: Mode) => `${merchant_id}/ipn-password/${mode}`
export const ipnSecretPurpose = (merchant_id: string, mode: Mode, secret_id: string) =>
  `${merchant_id}/ipn/${mode}/${secret_id}`
