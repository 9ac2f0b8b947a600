import type { Task, TaskKind } from '../../core/payment/change.ts'
import { sql, type Tx } from '../db.ts'

// A task with the names that the inbox shows.
export type InboxTask = Task & {
  owner: string | null // a user
  owner_note: string
  worked_at: Date | null
  owner_name: string | null
  merchant_name: string
  invoice_id: string | null
  mode: 'test' | 'live' | null
  attempt_number: number
  provider_account: string | null
  is_redacted: boolean
}

export type TaskFilter = {
  isClosed: boolean
  kind?: TaskKind
  merchant_id?: string
  owner?: string | null // null: without an owner
}
export type TaskPlace = { at: Date; tx_reference: string; kind: string }

const inboxColumns = sql`t.*, u.name as owner_name, m.name as merchant_name, p.invoice_id, p.mode,
  a.number as attempt_number, a.provider_account, p.redacted_at is not null as is_redacted`

const withNames = (tasks = sql`tasks`) => sql`
  ${tasks} t join merchants m on m.merchant_id = t.merchant_id
  left join users u on u.user_id = t.owner
  left join payments p on p.merchant_id = t.merchant_id and p.tx_reference = t.tx_reference
  left join attempts a on a.merchant_id = t.merchant_id and a.attempt_id = t.attempt_id`

// For the live view.
export const newestOpenTasks = (tx: Tx, limit: number) =>
  tx.rows<InboxTask>(sql`
    select ${inboxColumns}
    from ${withNames(sql`(select * from tasks where closed_at is null order by created_at desc limit ${limit})`)}
    order by t.created_at desc`)

// The newest first. Open tasks are ordered by their beginning, closed ones by their end.
export function listInboxTasks(tx: Tx, f: TaskFilter, after: TaskPlace | undefined, limit: number) {
  const time = f.isClosed ? sql`closed_at` : sql`created_at`
  return tx.rows<InboxTask>(sql`
    select ${inboxColumns}
    from ${withNames(sql`(
      select * from tasks where ${f.isClosed ? sql`closed_at is not null` : sql`closed_at is null`}
        ${f.kind ? sql`and kind = ${f.kind}` : sql``}
        ${f.merchant_id ? sql`and merchant_id = ${f.merchant_id}` : sql``}
        ${f.owner === undefined ? sql`` : f.owner === null ? sql`and owner is null` : sql`and owner = ${f.owner}`}
        ${after ? sql`and (${time}, tx_reference, kind) < (${after.at}, ${after.tx_reference}, ${after.kind})` : sql``}
      order by ${time} desc, tx_reference desc, kind desc limit ${limit})`)}
    order by t.${time} desc, t.tx_reference desc, t.kind desc`)
}

type TaskOfPayment = Pick<Task, 'merchant_id' | 'tx_reference' | 'kind'>

// Those of one kind of a payment: one, unless several attempts have such a task.
export const inboxTasksOf = (tx: Tx, { merchant_id, tx_reference, kind }: TaskOfPayment) =>
  tx.rows<InboxTask>(sql`
    select ${inboxColumns} from ${withNames()}
    where t.merchant_id = ${merchant_id} and t.tx_reference = ${tx_reference} and t.kind = ${kind}
    order by a.number`)

export const lockTaskOf = (tx: Tx, { merchant_id, tx_reference, kind }: TaskOfPayment, number: number) =>
  tx.one<
    Pick<InboxTask, 'attempt_id' | 'owner' | 'owner_note' | 'worked_at' | 'closed_at' | 'is_redacted'>
  >(sql`
    select t.attempt_id, t.owner, t.owner_note, t.worked_at, t.closed_at, p.redacted_at is not null as is_redacted
    from tasks t, attempts a, payments p
    where p.merchant_id = ${merchant_id} and p.tx_reference = ${tx_reference} and t.merchant_id = ${merchant_id} and t.tx_reference = ${tx_reference} and t.kind = ${kind}
      and a.merchant_id = ${merchant_id} and a.attempt_id = t.attempt_id and a.number = ${number}
    for update of t`)

type Work = { owner: string | null; owner_note: string; worked_at: Date }

export const saveTaskWork = (tx: Tx, { merchant_id, kind }: TaskOfPayment, attempt_id: string, w: Work) =>
  tx.rows(sql`
    update tasks set owner = ${w.owner}, owner_note = ${w.owner_note}, worked_at = ${w.worked_at}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and kind = ${kind}`)
