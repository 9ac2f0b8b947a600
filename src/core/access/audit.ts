// Who changed something, and from where. The audit log holds ids and no customer data.
export type Actor = {
  kind: 'user' | 'command' | 'token' // token: the support token
  id: string // a user_id, or the account of the operating system that ran the command
  address: string // of the browser, or the machine of the command
}

export type AuditEntry = {
  merchant_id: string | null // null: a change of the installation
  action: string // such as 'settings.change'
  subject: string // the id of what was changed
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
}
