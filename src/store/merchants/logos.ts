import type { LogoFacts } from '../../core/merchant/branding.ts'
import type { Logo } from '../../core/merchant/logo/logo.ts'
import { named, sql, type Tx } from '../db.ts'

// The one that a merchant has, with its bytes.
export const findLogo = (tx: Tx, merchant_id: string) =>
  tx.one<Logo>(named('find_logo')`
    select digest, type, width, height, bytes from merchant_logos where merchant_id = ${merchant_id}`)

export type LogoRecord = LogoFacts & { size: number; created_at: Date }

export const findLogoRecord = (tx: Tx, merchant_id: string) =>
  tx.one<LogoRecord>(sql`
    select digest, type, width, height, length(bytes) as size, created_at from merchant_logos
    where merchant_id = ${merchant_id}`)

export const saveLogo = (tx: Tx, merchant_id: string, l: Logo, now: Date) =>
  tx.rows(sql`
    insert into merchant_logos (merchant_id, digest, type, bytes, width, height, created_at)
    values (${merchant_id}, ${l.digest}, ${l.type}, ${l.bytes}, ${l.width}, ${l.height}, ${now})
    on conflict (merchant_id) do update set digest = excluded.digest, type = excluded.type, bytes = excluded.bytes,
      width = excluded.width, height = excluded.height, created_at = excluded.created_at`)

export const removeLogo = (tx: Tx, merchant_id: string) =>
  tx.count(sql`delete from merchant_logos where merchant_id = ${merchant_id}`)
