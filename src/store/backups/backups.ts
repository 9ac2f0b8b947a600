import { sql, type Tx } from '../db.ts'

// A backup that was finished. Its file may be anywhere.
export type FinishedBackup = {
  backup_id: string
  taken_at: Date
  finished_at: Date
  bytes: bigint
  payments: bigint
  is_encrypted: boolean
  verified_at: Date | null
}

export const addBackup = (tx: Tx, b: FinishedBackup) =>
  tx.rows(sql`
    insert into backups (backup_id, taken_at, finished_at, bytes, payments, is_encrypted, verified_at)
    values (${b.backup_id}, ${b.taken_at}, ${b.finished_at}, ${b.bytes}, ${b.payments}, ${b.is_encrypted},
      ${b.verified_at})
    on conflict (backup_id) do nothing`)

// The newest data that a backup has. Undefined: none was made.
export const lastBackup = (tx: Tx) =>
  tx.one<FinishedBackup>(sql`select * from backups order by taken_at desc, backup_id limit 1`)

// Returns whether the backup is one of this database.
export const recordVerified = async (tx: Tx, backup_id: string, now: Date): Promise<boolean> =>
  (await tx.count(sql`update backups set verified_at = ${now} where backup_id = ${backup_id}`)) > 0
