import type { Mode } from '../../core/mode.ts'
import { sql, type Tx } from '../db.ts'

export type IpnSecret = {
  merchant_id: string
  mode: Mode
  secret_id: string
  sealed_secret: Buffer
  created_at: Date
  expires_at: Date | null
}

export const addIpnSecret = (tx: Tx, s: IpnSecret) =>
  tx.rows(sql`
    insert into ipn_secrets (merchant_id, mode, secret_id, sealed_secret, created_at, expires_at)
    values (${s.merchant_id}, ${s.mode}, ${s.secret_id}, ${s.sealed_secret}, ${s.created_at}, ${s.expires_at})
    on conflict (merchant_id, mode, secret_id) do nothing`)

export const listIpnSecrets = (tx: Tx, merchant_id: string) =>
  tx.rows<IpnSecret>(
    sql`select * from ipn_secrets where merchant_id = ${merchant_id} order by created_at, secret_id`,
  )

// A secret that was to end sooner still does.
export const expireIpnSecrets = (
  tx: Tx,
  merchant_id: string,
  mode: Mode,
  secret_ids: readonly string[],
  expires_at: Date,
) =>
  tx.rows(sql`
    update ipn_secrets set expires_at = ${expires_at}
    where merchant_id = ${merchant_id} and mode = ${mode} and secret_id = any(${secret_ids})
      and (expires_at is null or expires_at > ${expires_at})`)

export const isLive = ({ expires_at }: Pick<IpnSecret, 'expires_at'>, now: Date) =>
  expires_at === null || expires_at > now
