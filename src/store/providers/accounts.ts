import type { Mode } from '../../core/mode.ts'
import { notifyNodes } from '../nodeSession.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import type { WrappedKey } from '../merchants/vault.ts'

export type StoredAccount = WrappedKey & {
  account: string
  provider: string
  mode: Mode
  merchant_id: string | null // null: the operator's
  label: string | null
  settings: Record<string, string> // that are not secret
  sealed_settings: Buffer
  disabled_at: Date | null
  created_at: Date
  updated_at: Date
  version: bigint
}

type Changes = Pick<StoredAccount, 'label' | 'settings' | 'sealed_settings' | 'disabled_at'> & WrappedKey

// Changes of accounts are serialized, so that versions are committed in order: a reader of one version has seen all lower
// ones. The lock does not block readers. All nodes are notified at the commit.
export const changingAccounts = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(async tx => {
    await tx.rows(sql`lock table provider_accounts in share row exclusive mode`)
    const result = await work(tx)
    await notifyNodes(tx, 'accounts')
    return result
  })

const nextVersion = sql`(select coalesce(max(version), 0) + 1 from provider_accounts)`

// `on conflict do nothing`: a transaction runs again after a lost commit, and the row exists then.
export const addStoredAccount = (tx: Tx, a: Omit<StoredAccount, 'version' | 'updated_at' | 'disabled_at'>) =>
  tx.rows(sql`
    insert into provider_accounts (account, provider, mode, merchant_id, label, settings, sealed_settings, wrapped_key,
      master_key_id, created_at, updated_at, version)
    values (${a.account}, ${a.provider}, ${a.mode}, ${a.merchant_id}, ${a.label}, ${a.settings}, ${a.sealed_settings},
      ${a.wrapped_key}, ${a.master_key_id}, ${a.created_at}, ${a.created_at}, ${nextVersion})
    on conflict (account) do nothing`)

export const saveAccount = (tx: Tx, account: string, c: Changes, now: Date) =>
  tx.rows(sql`
    update provider_accounts set label = ${c.label}, settings = ${c.settings}, sealed_settings = ${c.sealed_settings},
      wrapped_key = ${c.wrapped_key}, master_key_id = ${c.master_key_id}, disabled_at = ${c.disabled_at},
      updated_at = ${now}, version = ${nextVersion}
    where account = ${account}`)

export const findAccount = (tx: Tx, account: string) =>
  tx.one<StoredAccount>(sql`select * from provider_accounts where account = ${account}`)

export const isAccountOf = async (tx: Tx, account: string, merchant_id: string) =>
  (await tx.one(named('is_account_of')`
    select from provider_accounts where account = ${account} and merchant_id = ${merchant_id}`)) !== undefined

export const listAccounts = (tx: Tx) =>
  tx.rows<StoredAccount>(sql`select * from provider_accounts order by account`)

export const accountsSince = (tx: Tx, version: bigint) =>
  tx.rows<StoredAccount>(sql`select * from provider_accounts where version > ${version} order by account`)

type Versions = { accounts: bigint; businesses: bigint }

export const highestVersions = async (tx: Tx): Promise<Versions> => {
  const row = await tx.one<{ [name in keyof Versions]: bigint | null }>(named('highest_versions')`
    select (select max(version) from provider_accounts) as accounts,
      (select max(version) from provider_businesses) as businesses`)
  return { accounts: row?.accounts ?? 0n, businesses: row?.businesses ?? 0n }
}

export const accountKeyIdsInUse = async (tx: Tx) =>
  (await tx.rows<{ master_key_id: string }>(sql`select distinct master_key_id from provider_accounts`)).map(
    row => row.master_key_id,
  )
