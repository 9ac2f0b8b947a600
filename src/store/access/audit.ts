import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import { sql, type Tx } from '../db.ts'

export const addAuditEntry = (tx: Tx, entry_id: string, actor: Actor, e: AuditEntry, now: Date) =>
  tx.rows(sql`
    insert into audit_entries
      (entry_id, at, actor_kind, actor_id, address, merchant_id, action, subject, before, after)
    values (${entry_id}, ${now}, ${actor.kind}, ${actor.id}, ${actor.address}, ${e.merchant_id}, ${e.action},
      ${e.subject}, ${e.before}, ${e.after})
    on conflict (entry_id) do nothing`)
