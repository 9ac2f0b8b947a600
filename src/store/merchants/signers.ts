import { ownOrigins, readMerchantSettings, type SettingTexts } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import { type Signer, signingKey } from '../../core/notification/delivery.ts'
import { named, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { ipnPasswordPurpose, ipnSecretPurpose } from './callers.ts'
import { sealedIpnPassword, type SealedIpnPasswords } from './merchants.ts'
import { type MasterKeys, openSecret, unwrapKey, type WrappedKey } from './vault.ts'

type SignerRow = WrappedKey &
  SealedIpnPasswords & {
    merchant_id: string
    mode: Mode
    secret_id: string
    sealed_secret: Buffer
    expires_at: Date | null
    settings: SettingTexts
    merchant_key: string | null
  }

// `keys` is empty if no secret could be opened, and `sealed` is the error. `password` is undefined if it could not be
// opened.
export type MerchantSigner = Signer & {
  merchant_id: string
  mode: Mode
  contact_email: string | null
  secret_ids: readonly string[] // those of `keys`
  sealed: unknown
}

// The signing keys of these merchants: every secret that has not expired, newest first.
export async function findSigners(
  tx: Tx,
  masterKeys: MasterKeys,
  merchant_ids: readonly string[],
  now: Date,
): Promise<MerchantSigner[]> {
  const merchants = merchant_ids.map(merchant_id => ({ merchant_id }))
  const rows = await tx.rows<SignerRow>(named('find_signers')`
    select s.merchant_id, s.mode, s.secret_id, s.sealed_secret, m.settings, m.master_key_id, m.wrapped_key,
      m.sealed_ipn_password, m.sealed_test_ipn_password,
      (select k.merchant_key from merchant_keys k where k.merchant_id = s.merchant_id and k.mode = s.mode
        and ${ofMerchants('k', merchants)}
        order by k.created_at desc limit 1) as merchant_key
    from ipn_secrets s join merchants m on m.merchant_id = s.merchant_id
    where s.merchant_id = any(${merchant_ids}) and ${ofMerchants('m', merchants)} and (s.expires_at is null or s.expires_at > ${now})
    order by s.created_at desc, s.secret_id`)
  const signers = new Map<string, MerchantSigner>()
  for (const row of rows) {
    const { merchant_id, mode } = row
    const name = `${merchant_id} ${mode}`
    const { key, sealed } = keyOf(masterKeys, row)
    const known = signers.get(name)
    const keys = [...(known?.keys ?? []), ...(key ? [key] : [])]
    const settings = readMerchantSettings(row.settings)
    signers.set(name, {
      merchant_id,
      mode,
      keys,
      secret_ids: [...(known?.secret_ids ?? []), ...(key ? [row.secret_id] : [])],
      merchant_key: row.merchant_key ?? '',
      password: known ? known.password : passwordOf(masterKeys, row),
      passwordOrigins: ownOrigins(settings),
      contact_email: settings.contact_email,
      sealed: keys.length > 0 ? undefined : (known?.sealed ?? sealed),
    })
  }
  return [...signers.values()]
}

// Undefined if it cannot be opened. Only style basic needs it; other styles work without it.
function passwordOf(masterKeys: MasterKeys, row: SignerRow): string | undefined {
  const { merchant_id, mode } = row
  const sealed = sealedIpnPassword(row, mode)
  if (sealed === null) return merchant_id
  try {
    return openSecret(unwrapKey(masterKeys, merchant_id, row), ipnPasswordPurpose(merchant_id, mode), sealed)
  } catch {
    return undefined
  }
}

// A secret that cannot be opened affects this merchant only.
function keyOf(masterKeys: MasterKeys, row: SignerRow): { key?: Buffer; sealed?: unknown } {
  const { merchant_id, mode, secret_id, sealed_secret } = row
  const purpose = ipnSecretPurpose(merchant_id, mode, secret_id)
  try {
    return { key: signingKey(openSecret(unwrapKey(masterKeys, merchant_id, row), purpose, sealed_secret)) }
  } catch (error) {
    return { sealed: error }
  }
}
