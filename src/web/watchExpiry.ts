import type { Logger } from 'pino'
import type { OnLeftOut } from '../actions/leftOut.ts'

const named = 5

// Payments that could not be ended: what they have in common, how many, and the first of them.
export const watchExpiry =
  (log: Logger): OnLeftOut =>
  ({ error, payments }) => {
    const some = payments
      .slice(0, named)
      .map(({ merchant_id, tx_reference }) => ({ merchant_id, tx_reference }))
    log.warn({ error: String(error), count: payments.length, payments: some }, 'payments could not be ended')
  }
