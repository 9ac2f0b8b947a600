import type { Logger } from 'pino'
import type { OnUnreadable } from '../actions/merchants/setMerchant.ts'
import type { OnSkippedRow } from '../runtime/skippedRows.ts'

const named = 5

// What could not be read or ended, and whose it is: how many there are, and the first of them.
export const watchReading = (log: Logger): { leftOut: OnSkippedRow; unreadable: OnUnreadable } => ({
  leftOut({ error, payments }) {
    const some = payments.slice(0, named)
    log.warn({ error: String(error), count: payments.length, payments: some }, 'payments could not be ended')
  },
  unreadable: merchants =>
    log.warn(
      { count: merchants.length, merchants: merchants.slice(0, named) },
      'settings cannot be read: tollgate doctor says whose',
    ),
})
