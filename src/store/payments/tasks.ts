import type { Attempt } from '../../core/payment/attempt.ts'
import type { Task, TaskKind } from '../../core/payment/change.ts'
import { named, sql, type Tx } from '../db.ts'

// A task is raised once, however often its cause occurs. A task about reversals reopens when their sum changes, one about
// disputes when another dispute follows after it was closed, one about refunds when its note is another then. Returns the tasks that are new or reopened.
export async function addTasks(tx: Tx, tasks: readonly Task[]): Promise<Task[]> {
  const added: Task[] = []
  for (const t of tasks)
    added.push(
      ...(await tx.rows<Task>(named('add_task')`
      insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
      values (${t.merchant_id}, ${t.attempt_id}, ${t.kind}, ${t.tx_reference}, ${t.amount}, ${t.currency},
        ${t.note}, ${t.created_at})
      on conflict (merchant_id, attempt_id, kind) do update
        set amount = excluded.amount, note = excluded.note, created_at = excluded.created_at, closed_at = null,
          closed_note = null
        where (tasks.kind = 'reversed' and tasks.amount <> excluded.amount)
          or (tasks.kind in ('dispute_opened', 'dispute_lost') and tasks.closed_at is not null)
          or (tasks.kind in ('refund_needs_action', 'refund_unclear', 'refund_exceeds')
            and tasks.closed_at is not null and tasks.note <> excluded.note)
      returning *`)),
    )
  return added
}

const insertTaskOf = (attempt: Attempt, kind: TaskKind, note: string, now: Date) => sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
    select merchant_id, ${attempt.attempt_id}::text, ${kind}::text, tx_reference, total, currency, ${note}::text,
      ${now}::timestamptz
    from payments where merchant_id = ${attempt.merchant_id} and tx_reference = ${attempt.tx_reference}`

// Raises a task that follows from no change of the attempt. A closed one is reopened. Undefined if it is open already.
export const reopenTaskOf = (tx: Tx, attempt: Attempt, kind: TaskKind, note: string, now: Date) =>
  tx.one<Task>(named('reopen_task_of')`
    ${insertTaskOf(attempt, kind, note, now)}
    on conflict (merchant_id, attempt_id, kind) do update
      set note = excluded.note, created_at = excluded.created_at, closed_at = null, closed_note = null
      where tasks.closed_at is not null
    returning *`)

// The same, but a closed task stays closed.
export const addTaskOf = (tx: Tx, attempt: Attempt, kind: TaskKind, note: string, now: Date) =>
  tx.one<Task>(named('add_task_of')`
    ${insertTaskOf(attempt, kind, note, now)}
    on conflict (merchant_id, attempt_id, kind) do nothing
    returning *`)

export const tasksOf = (tx: Tx, merchant_id: string, tx_reference: string) =>
  tx.rows<Task>(named('tasks_of')`
    select * from tasks where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by created_at, kind`)

// The oldest first.
export const openTasks = (tx: Tx, limit: number) =>
  tx.rows<Task>(sql`select * from tasks where closed_at is null order by created_at limit ${limit}`)

export const countOpenTasks = async (tx: Tx): Promise<number> =>
  Number(
    (await tx.one<{ open: bigint }>(sql`select count(*) as open from tasks where closed_at is null`))?.open,
  )

export const countTasksByKind = (tx: Tx, now: Date) =>
  tx.rows<{ kind: string; open: number; oldest_seconds: number }>(sql`
    select kind, count(*)::integer as open,
      extract(epoch from ${now}::timestamptz - min(created_at))::double precision as oldest_seconds
    from tasks where closed_at is null group by kind`)

// Undefined if there is no such open task.
export const closeOpenTask = (
  tx: Tx,
  merchant_id: string,
  attempt_id: string,
  kind: TaskKind,
  note: string,
  now: Date,
) =>
  tx.one<Task>(named('close_task')`
    update tasks set closed_at = ${now}, closed_note = ${note}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and kind = ${kind} and closed_at is null
    returning *`)
