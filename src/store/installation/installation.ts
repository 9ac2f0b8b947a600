import { sql, type Tx } from '../db.ts'
import {
  type MasterKeys,
  newDataKey,
  openSecret,
  rewrapKey,
  sealSecret,
  unwrapKey,
  type WrappedKey,
  wrapKey,
} from '../merchants/vault.ts'

// The secrets of the installation, shared by all of its nodes.
export type InstallationSecrets = {
  supportToken: string // opens the operator's pages, unless a setting replaces it
  formKey: Buffer // signs the forms of the pages
}

type StoredSecrets = WrappedKey & { sealed_support_token: Buffer; sealed_form_key: Buffer }

const owner = 'this installation'
const tokenPurpose = 'support token of this installation'
const formKeyPurpose = 'form key of this installation'

export function sealInstallation(
  masterKeys: MasterKeys,
  { supportToken, formKey }: InstallationSecrets,
): StoredSecrets {
  const dataKey = newDataKey()
  return {
    ...wrapKey(masterKeys, owner, dataKey),
    sealed_support_token: sealSecret(dataKey, tokenPurpose, supportToken),
    sealed_form_key: sealSecret(dataKey, formKeyPurpose, formKey.toString('hex')),
  }
}

export function openInstallation(masterKeys: MasterKeys, row: StoredSecrets): InstallationSecrets {
  const dataKey = unwrapKey(masterKeys, owner, row)
  return {
    supportToken: openSecret(dataKey, tokenPurpose, row.sealed_support_token),
    formKey: Buffer.from(openSecret(dataKey, formKeyPurpose, row.sealed_form_key), 'hex'),
  }
}

// Seals and opens other secrets of the installation with its data key, which stays the same when the master key changes.
export function installationVault(masterKeys: MasterKeys, row: StoredSecrets) {
  const dataKey = unwrapKey(masterKeys, owner, row)
  return {
    seal: (purpose: string, secret: string) => sealSecret(dataKey, purpose, secret),
    open: (purpose: string, sealed: Buffer) => openSecret(dataKey, purpose, sealed),
  }
}

export const rewrapInstallationKey = (masterKeys: MasterKeys, row: StoredSecrets) =>
  rewrapKey(masterKeys, owner, row)

export const findInstallation = (tx: Tx) =>
  tx.one<StoredSecrets>(sql`select * from installation_secrets where only_row`)

export const lockInstallation = (tx: Tx) =>
  tx.one<StoredSecrets>(sql`select * from installation_secrets where only_row for update`)

// `on conflict do nothing`: if two nodes start at once on a new database, the secrets of the first are used.
export const addInstallation = (tx: Tx, row: StoredSecrets, now: Date) =>
  tx.rows(sql`
    insert into installation_secrets (master_key_id, wrapped_key, sealed_support_token, sealed_form_key, created_at)
    values (${row.master_key_id}, ${row.wrapped_key}, ${row.sealed_support_token}, ${row.sealed_form_key}, ${now})
    on conflict (only_row) do nothing`)

// None on a new database.
export const installationKeyIdsInUse = async (tx: Tx) =>
  (await tx.rows<{ master_key_id: string }>(sql`select master_key_id from installation_secrets`)).map(
    row => row.master_key_id,
  )

export const saveInstallationKey = (tx: Tx, { master_key_id, wrapped_key }: WrappedKey) =>
  tx.rows(sql`
    update installation_secrets set master_key_id = ${master_key_id}, wrapped_key = ${wrapped_key} where only_row`)

export const addSupportLink = (tx: Tx, link_digest: string, expires_at: Date) =>
  tx.rows(sql`
    insert into support_links (link_digest, expires_at) values (${link_digest}, ${expires_at})
    on conflict (link_digest) do nothing`)

// One statement, so that of several nodes only one finds the link. Returns whether it was valid.
export const takeSupportLink = async (tx: Tx, link_digest: string, now: Date): Promise<boolean> =>
  (await tx.count(sql`
    delete from support_links where link_digest = ${link_digest} and expires_at > ${now}`)) > 0

export const removeExpiredLinks = (tx: Tx, now: Date) =>
  tx.count(sql`delete from support_links where expires_at <= ${now}`)
