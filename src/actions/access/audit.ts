import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import type { OwnerAlert } from '../../core/access/ownerAlert.ts'
import { newReference } from '../../runtime/ids.ts'
import { addAuditEntry } from '../../store/access/audit.ts'
import type { Db, Tx } from '../../store/db.ts'
import { mailOwners } from './mailOwners.ts'

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

// For actions that open their transactions themselves: each transaction of the returned Db also writes the entry of its
// result, in the same commit. Without an entry nothing was changed. `entryOf` declares the type of the result. With `alert`
// the owners of the merchant get a mail about each entry.
export function auditedDb(
  db: Db,
  actor: Actor,
  now: Date,
  entryOf: (result: never) => AuditEntry | undefined,
  alert?: { change: OwnerAlert; by: string },
): Db {
  const wrap = (inner: Db): Db => ({
    ...inner,
    withQuota: kind => wrap(inner.withQuota(kind)),
    withDeadline: deadline => wrap(inner.withDeadline(deadline)),
    transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      const entryId = newReference(now)
      return inner.transaction(async tx => {
        const result = await work(tx)
        const entry = entryOf(result as never)
        if (entry) await addAuditEntry(tx, entryId, actor, entry, now)
        if (alert && entry?.merchant_id) await mailOwners(tx, entry.merchant_id, alert, now)
        return result
      })
    },
  })
  return wrap(db)
}
