import type { Db } from '../../store/db.ts'
import { findInstallation, installationVault } from '../../store/installation/installation.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'

const totpPurpose = (user_id: string) => `second factor of ${user_id}`

// Opens and seals the keys of second factors. Read on each use: signing in is rare, and the master key may change meanwhile.
export async function totpVault(db: Db, masterKeys: MasterKeys) {
  const row = await findInstallation(db)
  if (!row) throw new Error('The secrets of this installation cannot be found.')
  const { seal, open } = installationVault(masterKeys, row)
  return {
    seal: (user_id: string, secret: string) => seal(totpPurpose(user_id), secret),
    open: (user_id: string, sealed: Buffer) => open(totpPurpose(user_id), sealed),
  }
}
