import { expect, test } from 'vitest'
import { move, type Status } from '../../../src/core/payment/payment.ts'
import { after, aPayment } from '../../support/payments/rows.ts'

const later = after(1000)

// The whole table of the answers: from, and whether it may become awaiting_payment, paid, failed, cancelled.
const table: [from: Status, ...may: ('yes' | 'no')[]][] = [
  ['paid', 'no', 'no', 'no', 'no'], // refunds are their own records
  ['cancelled', 'yes', 'yes', 'no', 'no'], // opened again by its merchant; and money outranks an earlier no
  ['failed', 'yes', 'yes', 'no', 'yes'],
  ['awaiting_payment', 'no', 'yes', 'yes', 'yes'],
]
const columns: Status[] = ['awaiting_payment', 'paid', 'failed', 'cancelled']

for (const [from, ...may] of table)
  for (const [at, to] of columns.entries())
    test(`${from} may become ${to}: ${may[at]}`, () => {
      const payment = aPayment({ status: from, status_reason: 'before' })
      const moved = move(payment, to, 'why', later)
      const expected = { ...payment, status: to, status_reason: 'why', updated_at: later }
      expect(moved).toEqual(may[at] === 'yes' ? expected : undefined)
      expect(payment.status).toBe(from) // the old one is left as it was
    })
