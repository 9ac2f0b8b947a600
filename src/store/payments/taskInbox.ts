import type { Task } from '../../core/payment/change.ts'
import { sql, type Tx } from '../db.ts'

// A task with the names that the inbox shows.
export type InboxTask = Task & {
  owner: string | null
  owner_note: string
  worked_at: Date | null
  owner_name: string | null
  merchant_name: string
  invoice_id: string | null
  mode: 'test' | 'live' | null
}

const inboxColumns = sql`t.*, u.name as owner_name, m.name as merchant_name, p.invoice_id, p.mode`

const withNames = (tasks = sql`tasks`) => sql`
  ${tasks} t join merchants m on m.merchant_id = t.merchant_id
  left join users u on u.user_id = t.owner
  left join payments p on p.merchant_id = t.merchant_id and p.tx_reference = t.tx_reference`

// For the live view.
export const newestOpenTasks = (tx: Tx, limit: number) =>
  tx.rows<InboxTask>(sql`
    select ${inboxColumns}
    from ${withNames(sql`(select * from tasks where closed_at is null order by created_at desc limit ${limit})`)}
    order by t.created_at desc`)
