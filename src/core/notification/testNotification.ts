import { withoutSecrets } from '../interface/refusedRequest.ts'
import type { MerchantSettings } from '../merchant/settings.ts'
import { maskEmail, maskNumbers } from '../mask.ts'
import { takenPrefix } from '../payment/takenPayment.ts'
import { cleanText } from '../text.ts'

// A notification that a person sends to try the endpoint. It is about no payment. Its invoice has the prefix that requests
// of the API must not have, so it is no order of the shop, and its status asks for nothing: a client that does not read
// `type` finds no order, or an order that is not paid yet.
export const testInvoice = `${takenPrefix}test`

export const testNotificationBody = (
  tx_reference: string,
  { ipn_style, currencies }: Pick<MerchantSettings, 'ipn_style' | 'currencies'>,
): string =>
  JSON.stringify({
    type: 'test',
    invoice_id: testInvoice,
    tx_reference,
    status: 'awaiting_payment',
    amount: ipn_style === 'basic' ? '0.00' : 0,
    status_reason: 'This is a test notification. No payment has changed.',
    payment_method: null,
    payment_time: null,
    invoice: testInvoice,
    currency: currencies[0],
    extra: {},
  })

const maxRead = 2000
const maxShown = 300
const emailForm = /[^\s@<>"',;]+@[^\s@<>"',;]+/g

// The beginning of an answer, for the developer who sent the test. An endpoint that fails may print a customer or a secret.
export function shownAnswer(answer: Buffer | null): string {
  const text = withoutSecrets(cleanText(answer?.toString('utf8') ?? '', maxRead))
  return cleanText(maskNumbers(text.replace(emailForm, maskEmail)), maxShown)
}
