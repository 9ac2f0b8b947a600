import type { Order } from '../../core/provider/order.ts'
import { formatMoney } from '../../core/money.ts'

const maxNote = 128

// The order as MTN wants it. Its answers name an order by `externalId` alone.
export const requestOf = (order: Order, standIn: string | undefined) => ({
  amount: formatMoney(order.amount, order.currency),
  currency: standIn ?? order.currency,
  externalId: order.attempt_id,
  payer: { partyIdType: 'MSISDN', partyId: msisdnOf(order) },
  payerMessage: noteOf(order.merchant_name),
  payeeNote: noteOf(order.tx_reference),
})

export const msisdnOf = ({ given }: Order) => (given.phone ?? '').replace(/^\+/, '')

// MTN refuses a whole request because of an apostrophe in a note. Accents fall off their letters; the rest becomes a
// space.
export function noteOf(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9.,-]+/g, ' ')
  return plain.trim().slice(0, maxNote).trim() || 'Payment'
}
