// What needs a person. One of a kind per attempt.
export const taskKinds = {
  refund: 'Money arrived twice: give this amount back.',
  amount_mismatch: 'The provider took another amount than was asked for.',
  unresolved: 'The provider has not said how this ended for a day.',
  other_order: 'The provider said paid, and named another order.',
  reference_taken: 'The provider says paid by a reference that has paid another attempt already.',
  reversed: 'The provider gave money back after it was paid.',
  charged_back: "The customer's bank took money back after it was paid.",
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
