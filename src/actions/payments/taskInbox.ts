import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import { closedTaskEntry } from '../../core/access/auditEntries.ts'
import { type Task, type TaskKind, taskKinds } from '../../core/payment/change.ts'
import { isPlainText } from '../../core/text.ts'
import type { Db } from '../../store/db.ts'
import {
  type InboxTask,
  inboxTasksOf,
  listInboxTasks,
  lockTaskOf,
  saveTaskWork,
  type TaskFilter,
  type TaskPlace,
} from '../../store/payments/taskInbox.ts'
import { audited, auditedDb } from '../access/audit.ts'
import { closeTask, type CloseTaskResult } from './closeTask.ts'

const pageLength = 50
export const maxTaskNote = 1000

export type { InboxTask, TaskFilter }

export type TaskKey = { merchant_id: string; tx_reference: string; kind: TaskKind; number: number }

export const isTaskKind = (text: string | undefined): text is TaskKind =>
  text !== undefined && Object.hasOwn(taskKinds, text)

// One page of the inbox; `next` is the place of the next one.
export async function readTaskInbox(db: Db, filter: TaskFilter, place: string | undefined) {
  const found = await listInboxTasks(db, filter, readPlace(place), pageLength + 1)
  const tasks = found.slice(0, pageLength)
  const last = found.length > pageLength ? tasks.at(-1) : undefined
  return { tasks, next: last && placeOf(last, filter) }
}

const placeOf = (task: Task, { isClosed }: TaskFilter) => {
  const at = (isClosed && task.closed_at) || task.created_at
  return `${at.getTime()}~${task.tx_reference}~${task.kind}`
}

function readPlace(text = ''): TaskPlace | undefined {
  const [ms = '', tx_reference = '', kind = ''] = text.slice(0, 200).split('~')
  if (!/^\d{1,14}$/.test(ms) || !isPlainText(tx_reference) || !isTaskKind(kind)) return undefined
  return { at: new Date(Number(ms)), tx_reference, kind }
}

export const readInboxTasks = (db: Db, key: Omit<TaskKey, 'number'>): Promise<InboxTask[]> =>
  isPlainText(key.merchant_id + key.tx_reference) ? inboxTasksOf(db, key) : Promise.resolve([])

// `seen` is when the task was last worked on, as the page showed it: in two tabs, the second form changes nothing.
type Working = { db: Db; actor: Actor; user_id: string; seen: string; now: Date }

export type WorkResult = 'done' | 'already' | 'changed' | 'closed' | 'no_task'

const workEntry = ({ merchant_id, tx_reference, kind }: TaskKey, action: string): AuditEntry => ({
  merchant_id,
  action,
  subject: tx_reference,
  before: null,
  after: { kind },
})

type Locked = NonNullable<Awaited<ReturnType<typeof lockTaskOf>>>

const changeTask = (
  { db, actor, seen, now }: Working,
  key: TaskKey,
  action: string,
  change: (task: Locked) => Pick<Locked, 'owner' | 'owner_note'>,
): Promise<WorkResult> =>
  audited<WorkResult>(db, actor, now, async (tx, record) => {
    const task = await lockTaskOf(tx, key, key.number)
    if (!task) return 'no_task'
    if (task.closed_at || (task.is_redacted && action === 'task.note')) return 'closed'
    const after = change(task)
    if (after.owner === task.owner && after.owner_note === task.owner_note) return 'already'
    if (String(task.worked_at?.getTime() ?? '') !== seen) return 'changed'
    await saveTaskWork(tx, key, task.attempt_id, { ...after, worked_at: now })
    await record(workEntry(key, action))
    return 'done'
  })

export const takeTask = (working: Working, key: TaskKey): Promise<WorkResult> =>
  changeTask(working, key, 'task.take', ({ owner_note }) => ({ owner: working.user_id, owner_note }))

export const releaseTask = (working: Working, key: TaskKey): Promise<WorkResult> =>
  changeTask(working, key, 'task.release', ({ owner_note }) => ({ owner: null, owner_note }))

// The audit log has that a note was written, not the note: it may name a customer.
export const writeTaskNote = (working: Working, key: TaskKey, note: string): Promise<WorkResult> =>
  changeTask(working, key, 'task.note', ({ owner }) => ({ owner, owner_note: note }))

// Twice the same is once: the second finds no open task.
export async function closeInboxTask(
  { db, actor, now }: Pick<Working, 'db' | 'actor' | 'now'>,
  key: TaskKey,
  note: string,
): Promise<'done' | 'already' | 'no_task'> {
  const { merchant_id, tx_reference, kind, number } = key
  const recorded = auditedDb(db, actor, now, (result: CloseTaskResult | undefined) =>
    result?.done === 'closed' ? closedTaskEntry({ merchant_id, tx_reference }, kind) : undefined,
  )
  const closing = { kind, note, number, isForm: true } as const
  const { done } = await closeTask(recorded, { merchant_id, tx_reference }, closing, now)
  if (done === 'closed') return 'done'
  return (await readInboxTasks(db, key)).length > 0 ? 'already' : 'no_task'
}
