import type { LogoFacts } from '../../core/merchant/branding.ts'
import type { Logo } from '../../core/merchant/logo/logo.ts'
import type { SettingTexts } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import { named, sql, type Tx } from '../db.ts'
import type { WrappedKey } from './vault.ts'

export type Merchant = WrappedKey & {
  merchant_id: string
  name: string
  active: boolean
  settings: SettingTexts
  created_at: Date
} & SealedIpnPasswords

// Null: the merchant's id is the password. The column without a mode in its name is that of live notifications.
export type SealedIpnPasswords = {
  sealed_ipn_password: Buffer | null
  sealed_test_ipn_password: Buffer | null
}

export const sealedIpnPassword = (passwords: SealedIpnPasswords, mode: Mode) =>
  mode === 'live' ? passwords.sealed_ipn_password : passwords.sealed_test_ipn_password

// `on conflict do nothing`: a transaction that lost its commit runs again and finds its own row.
export const addMerchant = (tx: Tx, m: Omit<Merchant, keyof SealedIpnPasswords>) =>
  tx.rows(sql`
    insert into merchants (merchant_id, name, active, settings, master_key_id, wrapped_key, created_at)
    values (${m.merchant_id}, ${m.name}, ${m.active}, ${m.settings}, ${m.master_key_id}, ${m.wrapped_key},
      ${m.created_at})
    on conflict (merchant_id) do nothing`)

export const findMerchant = (tx: Tx, merchant_id: string) =>
  tx.one<Merchant>(sql`select * from merchants where merchant_id = ${merchant_id}`)

export const lockMerchant = (tx: Tx, merchant_id: string) =>
  tx.one<Merchant>(sql`select * from merchants where merchant_id = ${merchant_id} for update`)

export const listMerchants = (tx: Tx) =>
  tx.rows<Merchant>(sql`select * from merchants order by created_at, merchant_id`)

// Merchants with a setting that is not the default.
export const merchantsWithSettings = (tx: Tx) =>
  tx.rows<Pick<Merchant, 'merchant_id' | 'settings'>>(sql`
    select merchant_id, settings from merchants where settings <> '{}' order by created_at, merchant_id`)

// Active merchants with a live key.
export const liveMerchants = (tx: Tx) =>
  tx.rows<Merchant>(sql`
    select * from merchants m where active and exists (
      select 1 from merchant_keys k where k.merchant_id = m.merchant_id and k.mode = 'live')
    order by created_at, merchant_id`)

export const saveSettings = (tx: Tx, merchant_id: string, settings: SettingTexts) =>
  tx.rows(sql`update merchants set settings = ${settings} where merchant_id = ${merchant_id}`)

export const saveIpnPassword = (tx: Tx, merchant_id: string, mode: Mode, sealed: Buffer | null) =>
  tx.rows(
    mode === 'live'
      ? sql`update merchants set sealed_ipn_password = ${sealed} where merchant_id = ${merchant_id}`
      : sql`update merchants set sealed_test_ipn_password = ${sealed} where merchant_id = ${merchant_id}`,
  )

export const setActive = (tx: Tx, merchant_id: string, active: boolean) =>
  tx.one<Merchant>(
    sql`update merchants set active = ${active} where merchant_id = ${merchant_id} returning *`,
  )

export const saveWrappedKey = (tx: Tx, merchant_id: string, key: WrappedKey) =>
  tx.rows(sql`
    update merchants set master_key_id = ${key.master_key_id}, wrapped_key = ${key.wrapped_key}
    where merchant_id = ${merchant_id}`)

export const masterKeyIdsInUse = async (tx: Tx) =>
  (await tx.rows<{ master_key_id: string }>(sql`select distinct master_key_id from merchants`)).map(
    row => row.master_key_id,
  )

export type Outlet = { merchant_id: string; code: string; name: string; created_at: Date }

// Undefined if the code is taken.
export const addOutlet = (tx: Tx, o: Outlet) =>
  tx.one<Outlet>(sql`
    insert into outlets (merchant_id, code, name, created_at)
    values (${o.merchant_id}, ${o.code}, ${o.name}, ${o.created_at})
    on conflict (merchant_id, code) do nothing returning *`)

export const listOutlets = (tx: Tx, merchant_id: string) =>
  tx.rows<Outlet>(sql`select * from outlets where merchant_id = ${merchant_id} order by code`)

export const listAllOutlets = (tx: Tx) =>
  tx.rows<Outlet>(sql`select * from outlets order by merchant_id, code`)

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
