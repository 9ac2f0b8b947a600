// What needs a person. One of a kind per attempt.
export const taskKinds = {
  refund: 'Money arrived twice: give this amount back.',
  amount_mismatch: 'The provider took another amount than was asked for.',
  unresolved: 'The provider has not said how this ended for a day.',
  other_order: 'The provider said paid, and named another order.',
  reference_taken: 'The provider says paid by a reference that has paid another attempt already.',
  reversed: 'The provider refunded the charge, or part of it.',
  dispute_opened: "The customer's bank disputes the charge.",
  dispute_lost: 'A dispute was lost: the money went back to the customer.',
  not_set_up: 'The provider account of the attempt is not set up, or is another one now.',
  account_refused: 'The provider refuses the credentials of the account.',
  unknown_code: 'The provider refuses payments with a code that we do not know.',
  not_recorded: 'The provider answered, and we could not write it down.',
} as const
export type TaskKind = keyof typeof taskKinds

export type Task = {
  merchant_id: string
  attempt_id: string
  kind: TaskKind
  tx_reference: string
  amount: bigint
  currency: string // as the provider says it
  note: string
  created_at: Date
  closed_at: Date | null
  closed_note: string | null
}
