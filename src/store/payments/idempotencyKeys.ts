import type { Attempt } from '../../core/payment/attempt.ts'
import { named, sql, type Tx } from '../db.ts'

type Found = Pick<
  Attempt,
  'merchant_id' | 'attempt_id' | 'tx_reference' | 'provider_account' | 'mode' | 'account_identity'
>

const columns = sql`merchant_id, attempt_id, tx_reference, provider_account, mode, account_identity`

// The attempt that an account's provider knows by this key: its own id, of a merchant that stands in it, or another.
export const findAttemptByKey = (
  tx: Tx,
  provider_account: string,
  key: string,
  merchant_id: string | undefined,
) =>
  merchant_id
    ? tx.one<Found>(named('find_by_attempt_id')`
        select ${columns} from attempts
        where merchant_id = ${merchant_id} and attempt_id = ${key} and provider_account = ${provider_account} and idempotency_key is null`)
    : tx.one<Found>(named('find_by_order_key')`
        select ${columns} from attempts
        where provider_account = ${provider_account} and idempotency_key = ${key} limit 1`)

// What no answer has, and a webhook tells: never instead of what an answer told.
export const saveProviderReference = (tx: Tx, { merchant_id, attempt_id }: Found, provider_ref: string) =>
  tx.rows(named('learn_reference')`
    update attempts set provider_ref = ${provider_ref}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and provider_ref is null`)
