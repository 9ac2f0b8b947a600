import type { Attempt } from '../../core/payment/attempt.ts'
import { named, sql, type Tx } from '../db.ts'

// Whether a task says already that the provider refuses this account.
export const hasRefusal = async (tx: Tx, account: string): Promise<boolean> =>
  (await tx.one(sql`
    select 1 from tasks t join attempts a on a.merchant_id = t.merchant_id and a.attempt_id = t.attempt_id
    where t.kind = 'account_refused' and t.closed_at is null and a.provider_account = ${account} limit 1`)) !==
  undefined

export const closeRefusals = (tx: Tx, account: string, note: string, now: Date) =>
  tx.count(sql`
    update tasks t set closed_at = ${now}, closed_note = ${note} from attempts a
    where t.kind = 'account_refused' and t.closed_at is null and a.merchant_id = t.merchant_id
      and a.attempt_id = t.attempt_id and a.provider_account = ${account}`)

export const findAttempt = (tx: Tx, merchant_id: string, attempt_id: string) =>
  tx.one<Attempt>(named('find_attempt')`
    select * from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`)
