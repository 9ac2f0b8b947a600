import type { Role } from './permissions.ts'

// Who changed something, and from where. The audit log holds ids and no customer data.
export type Actor = {
  kind: 'user' | 'command' | 'token' // token: the support token
  id: string // a user_id, or the account of the operating system that ran the command
  address: string // of the browser, or the machine of the command
}

export type AuditEntry = {
  merchant_id: string | null // null: a change of the installation
  action: string // such as 'settings.change'; auditTexts.ts has a sentence for each
  subject: string // the id of what was changed
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
}

// An entry as it is read, with the present names of its ids.
export type StoredEntry = AuditEntry & {
  entry_id: string
  at: Date
  actor_kind: Actor['kind']
  actor_id: string
  address: string
  actor_name: string | null
  is_operator: boolean // the actor is a user of the operator
  merchant_name: string | null
  subject_name: string | null // if the subject is a user
}

// From where an operator, a command or the support token acted is not for users of a merchant.
export const hidesAddress = (role: Role, { is_operator, actor_kind }: StoredEntry): boolean =>
  role.at === 'merchant' && (is_operator || actor_kind !== 'user')

export const tokenActor = (address: string): Actor => ({ kind: 'token', id: 'support', address })

// Of two records, what differs: `before` and `after` of an entry.
export function differingValues(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Pick<AuditEntry, 'before' | 'after'> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    name => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null),
  )
  const only = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.map(name => [name, values[name] ?? null]))
  return { before: only(before), after: only(after) }
}
