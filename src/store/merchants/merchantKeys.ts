import type { Mode } from '../../core/mode.ts'
import { sql, type Tx } from '../db.ts'

export type MerchantKey = {
  merchant_id: string
  merchant_key: string
  mode: Mode
  sealed_secret: Buffer
  created_at: Date
  expires_at: Date | null
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

// A key that was to end sooner still does.
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

// Whether anybody can take real money here.
export const hasLiveKey = async (tx: Tx) =>
  (await tx.one(sql`
    select 1 from merchant_keys where mode = 'live' and (expires_at is null or expires_at > now()) limit 1`)) !==
  undefined
