import type { Attempt } from '../../core/payment/attempt.ts'
import { named, type Tx } from '../db.ts'
import { statementPart } from '../groupStatement.ts'

type Holder = Pick<Attempt, 'merchant_id' | 'attempt_id'>

export type PaidReference = Holder & { account: string; reference: string }

// For whoever expects that nobody holds them: one that is held already is refused by the table's key, with all that is
// written beside it.
export const holdReferences = (all: readonly PaidReference[]) => statementPart('kept')`
  insert into paid_references (account, reference, merchant_id, attempt_id)
  select * from unnest(${all.map(r => r.account)}::text[], ${all.map(r => r.reference)}::text[],
    ${all.map(r => r.merchant_id)}::text[], ${all.map(r => r.attempt_id)}::text[])`

// Gives back whom a provider's reference has paid: this attempt, unless another was first. Who wants it in the same moment
// waits for the other's commit.
export const holdReference = async (
  tx: Tx,
  account: string,
  reference: string,
  { merchant_id, attempt_id }: Holder,
): Promise<Holder> =>
  (await tx.one<Holder>(named('hold_reference')`
    insert into paid_references (account, reference, merchant_id, attempt_id)
    values (${account}, ${reference}, ${merchant_id}, ${attempt_id})
    on conflict (account, reference) do update set attempt_id = paid_references.attempt_id
    returning merchant_id, attempt_id`)) as Holder

// For a person.
export async function nameOfAttempt(tx: Tx, { merchant_id, attempt_id }: Holder): Promise<string> {
  const found = await tx.one<Pick<Attempt, 'tx_reference' | 'number'>>(named('name_of_attempt')`
    select tx_reference, number from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`)
  return found ? `${found.tx_reference}, attempt ${found.number},` : 'a payment that is not here any more'
}
