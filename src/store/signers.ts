import { type Signer, signingKey } from '../core/ipnRequest.ts'
import type { Mode } from '../core/payment.ts'
import { readSettings, type SettingWords } from '../core/settings.ts'
import { ipnSecretPurpose } from './callers.ts'
import { sql, type Tx } from './db.ts'
import { type MasterKeys, openSecret, unwrapKey, type WrappedKey } from './vault.ts'

type Row = WrappedKey & {
  merchant_id: string
  mode: Mode
  secret_id: string
  sealed_secret: Buffer
  expires_at: Date | null
  settings: SettingWords
  merchant_key: string | null
}

export type MerchantSigner = Signer & { merchant_id: string; mode: Mode; contact_email: string | null }

// What the notifications of these merchants are signed with: every secret that is live, newest first.
export async function findSigners(
  tx: Tx,
  masterKeys: MasterKeys,
  merchant_ids: readonly string[],
  now: Date,
): Promise<MerchantSigner[]> {
  const rows = await tx.rows<Row>(sql`
    select s.merchant_id, s.mode, s.secret_id, s.sealed_secret, m.settings, m.master_key_id, m.wrapped_key,
      (select k.merchant_key from merchant_keys k where k.merchant_id = s.merchant_id and k.mode = s.mode
        order by k.created_at desc limit 1) as merchant_key
    from ipn_secrets s join merchants m on m.merchant_id = s.merchant_id
    where s.merchant_id = any(${merchant_ids}) and (s.expires_at is null or s.expires_at > ${now})
    order by s.created_at desc, s.secret_id`)
  const signers = new Map<string, MerchantSigner & { keys: Buffer[] }>()
  for (const { merchant_id, mode, secret_id, sealed_secret, ...row } of rows) {
    const dataKey = unwrapKey(masterKeys, merchant_id, row)
    const secret = openSecret(dataKey, ipnSecretPurpose(merchant_id, mode, secret_id), sealed_secret)
    const known = signers.get(`${merchant_id} ${mode}`)
    if (known) known.keys.push(signingKey(secret))
    else
      signers.set(`${merchant_id} ${mode}`, {
        merchant_id,
        mode,
        keys: [signingKey(secret)],
        merchant_key: row.merchant_key ?? '',
        contact_email: readSettings(row.settings).contact_email,
      })
  }
  return [...signers.values()]
}
