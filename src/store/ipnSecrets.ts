import type { Mode } from '../core/payment.ts'
import { sql, type Tx } from './db.ts'

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
