import type { Attempt } from '../../core/payment/attempt.ts'
import { named, type Tx } from '../db.ts'
import { statementPart } from '../groupStatement.ts'

// A provider's reference pays one attempt only. The attempt that it paid holds it.
export type PaidReference = Pick<Attempt, 'merchant_id' | 'attempt_id'> & {
  account: string
  reference: string
}

// A reference that is held already violates the table's key, and with it everything written in the same statement.
export const holdReferences = (all: readonly PaidReference[]) => statementPart('held')`
  insert into paid_references (account, reference, merchant_id, attempt_id)
  select * from unnest(${all.map(r => r.account)}::text[], ${all.map(r => r.reference)}::text[],
    ${all.map(r => r.merchant_id)}::text[], ${all.map(r => r.attempt_id)}::text[])`

export type ReferenceHolder = Pick<Attempt, 'merchant_id' | 'attempt_id'> & { name: string } // for operators

// Undefined if no committed attempt holds the reference.
export async function findReferenceHolder(
  tx: Tx,
  { account, reference }: Pick<PaidReference, 'account' | 'reference'>,
): Promise<ReferenceHolder | undefined> {
  const held = await tx.one<Omit<ReferenceHolder, 'name'>>(named('find_reference_holder')`
    select merchant_id, attempt_id from paid_references where account = ${account} and reference = ${reference}`)
  if (!held) return undefined
  const { merchant_id, attempt_id } = held
  const attempt = await tx.one<Pick<Attempt, 'tx_reference' | 'number'>>(named('name_of_attempt')`
    select tx_reference, number from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`)
  const name = attempt ? `attempt ${attempt.number} of ${attempt.tx_reference}` : 'a payment that was deleted'
  return { merchant_id, attempt_id, name }
}
