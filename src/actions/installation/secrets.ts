import { randomBytes } from 'node:crypto'
import type { Db } from '../../store/db.ts'
import {
  addInstallation,
  findInstallation,
  type InstallationSecrets,
  lockInstallation,
  openInstallation,
  rewrapInstallationKey,
  saveInstallationKey,
  sealInstallation,
} from '../../store/installation/installation.ts'
import { type MasterKeys, masterKeyId } from '../../store/merchants/vault.ts'
import type { Rewrapped } from '../merchants/rewrapKeys.ts'

// The secrets of this installation, created at the first start. Nodes that start at once on a new database get the same
// ones: each inserts, one insert wins, and all read the row afterwards.
export async function installationSecrets(
  db: Db,
  masterKeys: MasterKeys,
  now: Date,
): Promise<InstallationSecrets> {
  const stored = await findInstallation(db)
  if (stored) return openInstallation(masterKeys, stored)
  await addInstallation(db, sealInstallation(masterKeys, newSecrets()), now)
  const row = await findInstallation(db)
  if (!row) throw new Error('The secrets of this installation were stored and cannot be found.')
  return openInstallation(masterKeys, row)
}

const newSecrets = (): InstallationSecrets => ({
  supportToken: randomBytes(24).toString('base64url'),
  formKey: randomBytes(32),
})

// Wraps the data key of the installation with the newest master key. Running gateways go on with the secrets in memory.
export const rewrapInstallation = (db: Db, masterKeys: MasterKeys): Promise<Rewrapped> =>
  db.transaction(async tx => {
    const row = await lockInstallation(tx)
    if (!row || row.master_key_id === masterKeyId(masterKeys.newest())) return { changed: 0, failed: [] }
    const key = rewrapInstallationKey(masterKeys, row)
    if (!key) return { changed: 0, failed: ['the installation itself'] }
    await saveInstallationKey(tx, key)
    return { changed: 1, failed: [] }
  })
