import type { Mode } from '../../core/mode.ts'
import { sql, type Tx } from '../db.ts'

export type MerchantKey = {
  merchant_id: string
  merchant_key: string
  mode: Mode
  sealed_secret: Buffer
  created_at: Date
  expires_at: Date | null
  last_used_at?: Date | null // at most an hour too early
}

export const addMerchantKey = (tx: Tx, k: MerchantKey) =>
  tx.rows(sql`
    insert into merchant_keys (merchant_id, merchant_key, mode, sealed_secret, created_at, expires_at)
    values (${k.merchant_id}, ${k.merchant_key}, ${k.mode}, ${k.sealed_secret}, ${k.created_at}, ${k.expires_at})
    on conflict (merchant_id, merchant_key) do nothing`)

export const listMerchantKeys = (tx: Tx, merchant_id: string) =>
  tx.rows<MerchantKey>(
    sql`select * from merchant_keys where merchant_id = ${merchant_id} order by created_at, merchant_key`,
  )

// A key that expires earlier keeps its date.
export const expireMerchantKeys = (
  tx: Tx,
  merchant_id: string,
  mode: Mode,
  except: string,
  expires_at: Date,
) =>
  tx.rows(sql`
    update merchant_keys set expires_at = ${expires_at}
    where merchant_id = ${merchant_id} and mode = ${mode} and merchant_key <> ${except}
      and (expires_at is null or expires_at > ${expires_at})`)

export const expireMerchantKey = (tx: Tx, merchant_id: string, mode: Mode, merchant_key: string, now: Date) =>
  tx.count(sql`
    update merchant_keys set expires_at = ${now}
    where merchant_id = ${merchant_id} and mode = ${mode} and merchant_key = ${merchant_key}
      and (expires_at is null or expires_at > ${now})`)

// Whether any merchant can take real money.
export const hasLiveKey = async (tx: Tx) =>
  (await tx.one(sql`
    select 1 from merchant_keys where mode = 'live' and (expires_at is null or expires_at > now()) limit 1`)) !==
  undefined

export type IpnSecret = {
  merchant_id: string
  mode: Mode
  secret_id: string
  sealed_secret: Buffer
  created_at: Date
  expires_at: Date | null
  last_used_at?: Date | null // at most an hour too early
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

// A secret that expires earlier keeps its date.
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
