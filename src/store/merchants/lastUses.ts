import { ofMerchants } from '../groupStatement.ts'
import { sql, type Tx } from '../db.ts'

export type KeyUse = { merchant_id: string; merchant_key: string; used_at: Date }
export type SecretUse = { merchant_id: string; secret_id: string; used_at: Date }

export const writtenEveryMs = 3_600_000

// Citus refuses to subtract an interval from a column in an update.
const anHourBefore = (uses: readonly { used_at: Date }[]) =>
  uses.map(({ used_at }) => new Date(used_at.getTime() - writtenEveryMs))

// Nodes write the uses of the same keys. A row that was written for the last hour is not written again.
export const saveKeyUses = (tx: Tx, uses: readonly KeyUse[]) =>
  tx.rows(sql`
    update merchant_keys k set last_used_at = u.used_at
    from unnest(${uses.map(u => u.merchant_id)}::text[], ${uses.map(u => u.merchant_key)}::text[],
      ${uses.map(u => u.used_at)}::timestamptz[], ${anHourBefore(uses)}::timestamptz[])
      as u (merchant_id, merchant_key, used_at, hour_before)
    where k.merchant_id = u.merchant_id and k.merchant_key = u.merchant_key and ${ofMerchants('k', uses)}
      and (k.last_used_at is null or k.last_used_at <= u.hour_before)`)

export const saveSecretUses = (tx: Tx, uses: readonly SecretUse[]) =>
  tx.rows(sql`
    update ipn_secrets s set last_used_at = u.used_at
    from unnest(${uses.map(u => u.merchant_id)}::text[], ${uses.map(u => u.secret_id)}::text[],
      ${uses.map(u => u.used_at)}::timestamptz[], ${anHourBefore(uses)}::timestamptz[])
      as u (merchant_id, secret_id, used_at, hour_before)
    where s.merchant_id = u.merchant_id and s.secret_id = u.secret_id and ${ofMerchants('s', uses)}
      and (s.last_used_at is null or s.last_used_at <= u.hour_before)`)
