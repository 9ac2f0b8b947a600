import { lastBackup } from '../../store/backups/backups.ts'
import type { Tx } from '../../store/db.ts'

// From when the newest data is that a backup has. Undefined: none was made by tollgate backup.
export const lastBackupAt = async (tx: Tx): Promise<Date | undefined> => (await lastBackup(tx))?.taken_at
