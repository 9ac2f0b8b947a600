import { randomBytes } from 'node:crypto'
import type { Db } from '../../store/db.ts'
import {
  addInstallation,
  findInstallation,
  type InstallationSecrets,
  lockInstallation,
  openInstallation,
  rewrappedInstallation,
  saveInstallationKey,
  sealInstallation,
} from '../../store/installation/secrets.ts'
import { type MasterKeys, masterKeyId, type WrappedKey } from '../../store/merchants/vault.ts'
import type { Rewrapped } from '../merchants/rewrapKeys.ts'

// The secrets of this installation. The first start makes them. Nodes that start at once on a new database end with the
// same ones: each inserts, one insert wins, and all read the row afterwards.
export async function installationSecrets(
  db: Db,
  masterKeys: MasterKeys,
  now: Date,
): Promise<InstallationSecrets> {
  const stored = await findInstallation(db)
  if (stored) return openInstallation(masterKeys, stored)
  await addInstallation(db, sealInstallation(masterKeys, newSecrets()), now)
  const row = await findInstallation(db)
  if (!row) throw new Error('The secrets of this installation were stored and are gone.')
  return openInstallation(masterKeys, row)
}

const newSecrets = (): InstallationSecrets => ({
  supportToken: randomBytes(24).toString('base64url'),
  formKey: randomBytes(32),
})

// Wraps the data key of the installation with the newest master key. Running gateways keep the secrets that they have
// opened.
export const rewrapInstallation = (db: Db, masterKeys: MasterKeys): Promise<Rewrapped> =>
  db.transaction(async tx => {
    const row = await lockInstallation(tx)
    if (!row || row.master_key_id === masterKeyId(masterKeys.newest())) return { changed: 0, failed: [] }
    const key = openKey(() => rewrappedInstallation(masterKeys, row))
    if (!key) return { changed: 0, failed: ['the installation itself'] }
    await saveInstallationKey(tx, key)
    return { changed: 1, failed: [] }
  })

function openKey(wrap: () => WrappedKey): WrappedKey | undefined {
  try {
    return wrap()
  } catch {
    return undefined
  }
}
