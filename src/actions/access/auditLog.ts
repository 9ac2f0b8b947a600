import { stringify } from 'csv-stringify/sync'
import { hidesAddress, type StoredEntry } from '../../core/access/audit.ts'
import { auditSentence } from '../../core/access/auditTexts.ts'
import type { Role } from '../../core/access/permissions.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import { type AuditFilter, listAuditEntries, usersByNameOrEmail } from '../../store/access/audit.ts'
import type { Db } from '../../store/db.ts'

// What is looked for in the audit log. All of it has to fit.
export type AuditSearch = {
  merchant_id?: string
  actor?: string // a name, an email, a user_id, or an account of the operating system
  action?: string
  subject?: string // the id of what was changed
  from?: Date
  until?: Date
}

const exportedAtOnce = 1000
const hiddenAddress = 'the operator'

// The ids of entries begin with their time, so a period is a range of ids.
async function filterOf(db: Db, { actor, from, until, ...exact }: AuditSearch): Promise<AuditFilter> {
  const users = actor === undefined ? [] : await usersByNameOrEmail(db, actor)
  return {
    ...exact,
    ...(actor !== undefined && { actor_ids: [actor, ...users.map(({ user_id }) => user_id)] }),
    ...(from && { from: firstReferenceAt(from) }),
    ...(until && { until: firstReferenceAt(until) }),
  }
}

export type AuditPage = { entries: StoredEntry[]; older: string | undefined } // older: behind this id there are more

// Newest first.
export async function searchAudit(
  db: Db,
  search: AuditSearch,
  { behind, limit }: { behind?: string; limit: number },
): Promise<AuditPage> {
  const found = await listAuditEntries(db, await filterOf(db, search), behind, limit + 1)
  const entries = found.slice(0, limit)
  return { entries, older: found.length > limit ? entries.at(-1)?.entry_id : undefined }
}

// All entries of a search, newest first, in batches. `open` gives a database with a new deadline for each batch.
export async function* auditEntriesOf(open: () => Db, search: AuditSearch): AsyncGenerator<StoredEntry> {
  const filter = await filterOf(open(), search)
  let behind: string | undefined
  for (;;) {
    const entries = await listAuditEntries(open(), filter, behind, exportedAtOnce)
    yield* entries
    if (entries.length < exportedAtOnce) return
    behind = entries.at(-1)?.entry_id
  }
}

const columns = [
  'entry_id',
  'at',
  'actor_kind',
  'actor_id',
  'actor_name',
  'address',
  'merchant_id',
  'merchant_name',
  'action',
  'subject',
  'sentence',
  'before',
  'after',
]

// A spreadsheet would run a text that begins like a formula, so such a text gets an apostrophe.
const csvLine = (cells: readonly (string | null)[]) =>
  stringify([[...cells]], { escape_formulas: true, record_delimiter: 'windows' })

// `role` is whose file it is: a merchant's user sees no more in it than on the page. Without a role everything is shown.
export async function* auditCsv(entries: AsyncIterable<StoredEntry>, role?: Role): AsyncGenerator<string> {
  yield csvLine(columns)
  for await (const e of entries)
    yield csvLine([
      e.entry_id,
      e.at.toISOString(),
      e.actor_kind,
      e.actor_id,
      e.actor_name,
      role && hidesAddress(role, e) ? hiddenAddress : e.address,
      e.merchant_id,
      e.merchant_name,
      e.action,
      e.subject,
      auditSentence(e, 'en'),
      e.before && JSON.stringify(e.before),
      e.after && JSON.stringify(e.after),
    ])
}
