import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import { newReference } from '../../runtime/ids.ts'
import { addAuditEntry } from '../../store/access/audit.ts'
import type { Db, Tx } from '../../store/db.ts'

// Records a change in its own transaction: both are committed, or neither. The id is made before the transaction, which may
// run twice.
export function audited<T>(
  db: Db,
  actor: Actor,
  now: Date,
  work: (tx: Tx, record: (entry: AuditEntry) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const entryId = newReference(now)
  return db.transaction(tx => {
    let entries = 0
    return work(tx, entry => addAuditEntry(tx, `${entryId}${entries++ || ''}`, actor, entry, now))
  })
}
