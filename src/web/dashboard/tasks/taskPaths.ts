import type { Task } from '../../../core/payment/change.ts'

// The page of a task, below the operator's part. The id of the attempt is the secret of a provider's callbacks, so the
// address has the payment and the kind; a payment with several attempts of one kind shows them together.
export const taskPath = ({
  merchant_id,
  tx_reference,
  kind,
}: Pick<Task, 'merchant_id' | 'tx_reference' | 'kind'>) =>
  `/tasks/${merchant_id}/${encodeURIComponent(tx_reference)}/${kind}`
