import { sql, type Tx } from '../db.ts'
import type { Merchant } from './merchants.ts'

export type ListedMerchant = Pick<Merchant, 'merchant_id' | 'name' | 'active' | 'settings' | 'created_at'> & {
  sort_name: string
}
export type MerchantPlace = { sort_name: string; merchant_id: string }

const listedColumns = sql`merchant_id, name, active, settings, created_at, lower(name) as sort_name`
const byName = sql`order by lower(name) collate "C", merchant_id`

const endOfPrefix = '\u{10ffff}' // sorts after every other character

// By name, with those whose name begins with a text only.
export const merchantsByName = (tx: Tx, prefix: string, after: MerchantPlace | undefined, limit: number) =>
  tx.rows<ListedMerchant>(sql`
    select ${listedColumns} from merchants
    where lower(name) collate "C" >= lower(${prefix}) and lower(name) collate "C" < lower(${prefix}) || ${endOfPrefix}
      ${after ? sql`and (lower(name) collate "C", merchant_id) > (${after.sort_name}, ${after.merchant_id})` : sql``}
    ${byName} limit ${limit}`)

// The merchant with this id, or that has this public key.
export const merchantsByIdOrKey = (tx: Tx, text: string) =>
  tx.rows<ListedMerchant>(sql`
    select ${listedColumns} from merchants where merchant_id = ${text}
      or merchant_id = (select merchant_id from merchant_keys where merchant_key = ${text})`)
