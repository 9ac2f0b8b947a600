import type { Actor, AuditEntry, StoredEntry } from '../../core/access/audit.ts'
import type { SealedRow } from '../../core/ledger/seal.ts'
import { sql, type Tx } from '../db.ts'

const asJson = (value: AuditEntry['before']) =>
  value && JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : (one ?? null)))

export const addAuditEntry = (tx: Tx, entry_id: string, actor: Actor, e: AuditEntry, now: Date) =>
  tx.rows(sql`
    insert into audit_entries
      (entry_id, at, actor_kind, actor_id, address, merchant_id, action, subject, before, after)
    values (${entry_id}, ${now}, ${actor.kind}, ${actor.id}, ${actor.address}, ${e.merchant_id}, ${e.action},
      ${e.subject}, ${asJson(e.before)}, ${asJson(e.after)})
    on conflict (entry_id) do nothing`)

export const hasEntryAbout = async (tx: Tx, subject: string, action: string) =>
  (await tx.rows(sql`select 1 from audit_entries where subject = ${subject} and action = ${action} limit 1`))
    .length > 0

export type AuditFilter = {
  merchant_id?: string
  actor_ids?: readonly string[]
  action?: string
  subject?: string
  from?: string // the smallest entry_id of a time
  until?: string
}

// Newest first, behind an entry.
export const listAuditEntries = (tx: Tx, f: AuditFilter, behind: string | undefined, limit: number) =>
  tx.rows<StoredEntry>(sql`
    select a.*, u.name as actor_name, u.operator_role is not null as is_operator, m.name as merchant_name, s.name as subject_name
    from audit_entries a
      left join users u on a.actor_kind = 'user' and u.user_id = a.actor_id
      left join merchants m on m.merchant_id = a.merchant_id
      left join users s on s.user_id = a.subject
    where true
      ${f.merchant_id === undefined ? sql`` : sql`and a.merchant_id = ${f.merchant_id}`}
      ${f.actor_ids === undefined ? sql`` : sql`and a.actor_id = any(${f.actor_ids}::text[])`}
      ${f.action === undefined ? sql`` : sql`and a.action = ${f.action}`}
      ${f.subject === undefined ? sql`` : sql`and a.subject = ${f.subject}`}
      ${f.from === undefined ? sql`` : sql`and a.entry_id >= ${f.from}`}
      ${f.until === undefined ? sql`` : sql`and a.entry_id < ${f.until}`}
      ${behind === undefined ? sql`` : sql`and a.entry_id < ${behind}`}
    order by a.entry_id desc limit ${limit}`)

// The people whose name or email this is, for the search by actor.
export const usersByNameOrEmail = (tx: Tx, text: string) =>
  tx.rows<{ user_id: string }>(
    sql`select user_id from users where email = lower(${text}) or name = ${text} limit 20`,
  )

export type AuditPlace = { created: string; row_id: string } // behind this row; `created` in microseconds
type AuditTuple = [entry_id: string, created: string, ...columns: (string | null)[]]

const micros = (column: string) => sql([`(extract(epoch from ${column}) * 1000000)::bigint::text`])
const instant = (place: AuditPlace) =>
  sql`to_timestamp(0) + ${place.created}::bigint * interval '1 microsecond'`

// The entries of a period in the order in which they are sealed, behind a place.
export async function entriesToSeal(
  tx: Tx,
  { from, until }: { from: Date | null; until: Date },
  behind: AuditPlace | undefined,
  limit: number,
): Promise<(SealedRow & AuditPlace)[]> {
  const rows = await tx.tuples<AuditTuple>(sql`
    select entry_id, ${micros('created_at')}, ${micros('at')}, actor_kind, actor_id, address, merchant_id, action, subject,
      before::text, after::text
    from audit_entries
    where created_at < ${until} ${from ? sql`and created_at >= ${from}` : sql``}
      ${behind ? sql`and (created_at, entry_id) > (${instant(behind)}, ${behind.row_id})` : sql``}
    order by created_at, entry_id limit ${limit}`)
  return rows.map(columns => ({ row_id: columns[0], created: columns[1], columns }))
}

// Whether something was recorded since a moment and before another one.
export const hasAuditEntries = async (tx: Tx, from: Date | null, until: Date) =>
  (await tx.one(sql`
    select from audit_entries where created_at < ${until} ${from ? sql`and created_at >= ${from}` : sql``}
    limit 1`)) !== undefined

// The entries of a merchant that are older than a moment.
export const countEntriesOf = async (tx: Tx, merchant_id: string, until: Date): Promise<number> =>
  (
    await tx.one<{ count: number }>(sql`
    select count(*)::integer as count from audit_entries
    where merchant_id = ${merchant_id} and created_at < ${until}`)
  )?.count ?? 0

export const isEntryOf = async (tx: Tx, merchant_id: string, entry_id: string): Promise<boolean> =>
  (await tx.one(sql`
    select from audit_entries where merchant_id = ${merchant_id} and entry_id = ${entry_id}`)) !== undefined
