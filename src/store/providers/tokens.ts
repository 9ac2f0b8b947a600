import { sql, type Tx } from '../db.ts'
import {
  type MasterKeys,
  newDataKey,
  openSecret,
  sealSecret,
  unwrapKey,
  wrapKey,
} from '../merchants/vault.ts'

// The stored token of an account. `made_at` identifies it.
export type StoredToken = { token: string | undefined; made_at: Date | null; expires_at: Date | null }

type TokenRow = Omit<StoredToken, 'token'> & {
  master_key_id: string | null
  wrapped_key: Buffer | null
  sealed_token: Buffer | null
}

// An account with certain settings. They are authenticated with the token, so a token of other settings does not decrypt.
export type TokenHolder = { provider_account: string; settings: string }

const purposeOf = ({ provider_account, settings }: TokenHolder) => `token of ${provider_account} ${settings}`

export async function findToken(tx: Tx, masterKeys: MasterKeys, holder: TokenHolder): Promise<StoredToken> {
  const row = await tx.one<TokenRow>(sql`
    select master_key_id, wrapped_key, sealed_token, made_at, expires_at from provider_tokens
    where provider_account = ${holder.provider_account}`)
  const { made_at = null, expires_at = null } = row ?? {}
  return { token: row && opened(masterKeys, holder, row), made_at, expires_at }
}

// Undefined if the token cannot be decrypted: its master key is gone, or it belongs to other settings or another account.
// Then a new one is requested.
function opened(masterKeys: MasterKeys, holder: TokenHolder, row: TokenRow): string | undefined {
  const { master_key_id, wrapped_key, sealed_token } = row
  if (!master_key_id || !wrapped_key || !sealed_token) return undefined
  const purpose = purposeOf(holder)
  try {
    return openSecret(unwrapKey(masterKeys, purpose, { master_key_id, wrapped_key }), purpose, sealed_token)
  } catch {
    return undefined
  }
}

// Claims the right to request the next token, if no other node has claimed it, and the token that was made at
// `formerMadeAt` is still the latest.
export const claimToken = async (
  tx: Tx,
  { provider_account }: TokenHolder,
  { maker, formerMadeAt, now, until }: { maker: string; formerMadeAt: Date | null; now: Date; until: Date },
): Promise<boolean> =>
  (await tx.count(sql`
    insert into provider_tokens as t (provider_account, maker, maker_until) values (${provider_account}, ${maker}, ${until})
    on conflict (provider_account) do update set maker = excluded.maker, maker_until = excluded.maker_until
    where (t.maker_until is null or t.maker_until <= ${now} or t.maker = ${maker})
      and t.made_at is not distinct from ${formerMadeAt}::timestamptz`)) > 0

// False if another node has claimed the token meanwhile.
export async function saveToken(
  tx: Tx,
  masterKeys: MasterKeys,
  holder: TokenHolder,
  { maker, token, now, expires_at }: { maker: string; token: string; now: Date; expires_at: Date },
): Promise<boolean> {
  const dataKey = newDataKey()
  const purpose = purposeOf(holder)
  const { master_key_id, wrapped_key } = wrapKey(masterKeys, purpose, dataKey)
  return (
    (await tx.count(sql`
      update provider_tokens set master_key_id = ${master_key_id}, wrapped_key = ${wrapped_key},
        sealed_token = ${sealSecret(dataKey, purpose, token)}, made_at = ${now}, expires_at = ${expires_at},
        maker = null, maker_until = null
      where provider_account = ${holder.provider_account} and maker = ${maker}`)) > 0
  )
}

// After a failed request, so that another node can try.
export const releaseToken = (tx: Tx, { provider_account }: TokenHolder, maker: string) =>
  tx.rows(sql`
    update provider_tokens set maker = null, maker_until = null where provider_account = ${provider_account} and maker = ${maker}`)

// Tokens under other master keys are deleted, not sealed again: new ones are requested when needed.
export const deleteTokensExcept = (tx: Tx, master_key_id: string) =>
  tx.count(sql`delete from provider_tokens where master_key_id <> ${master_key_id}`)
