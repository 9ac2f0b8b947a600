import type { Checkout } from '../../actions/payments/openCheckout.ts'
import { withoutTurns } from '../../core/text.ts'

// A payment as its pages draw it: what the shop wrote turns no letters around, in the title of the window neither.
export const drawn = (checkout: Checkout): Checkout => ({
  ...checkout,
  merchant_name: withoutTurns(checkout.merchant_name),
  payment_reference: checkout.payment_reference && withoutTurns(checkout.payment_reference),
  description: checkout.description && withoutTurns(checkout.description),
  line_items: checkout.line_items?.map(item => ({ ...item, name: withoutTurns(item.name) })) ?? null,
  face: { ...checkout.face, ...(checkout.face.refunds && { refunds: withoutTurns(checkout.face.refunds) }) },
})
