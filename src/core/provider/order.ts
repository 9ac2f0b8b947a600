import type { Currency } from '../money.ts'

// What a provider is told of an attempt. `key` is the provider's idempotency key where it knows one.
export type Order = {
  attempt_id: string
  idempotency_key: string
  number: number // of the attempt: 1, 2, 3 of its payment
  started_at: Date
  sent_at: Date // when the last thing was sent: what the customer typed, the order again, or the order
  ends_at: Date // nobody can approve it after this moment: sent_at and the lifetime of the prompt, page or code
  is_first_sending: boolean // no earlier sending can have reached the provider
  provider_code: string | null // of the last answer to a sending that refused it or failed
  check_reversals: boolean // refunds and disputes of the charge have to be read as well
  tx_reference: string
  invoice_id: string
  payment_method: string
  amount: bigint
  currency: Currency
  given: Readonly<Record<string, string>> // by the name of the ask; a phone is E.164
  merchant_id: string
  merchant_name: string
  email: string | null // the merchant's, or what the customer typed; so are the next two
  name: string | null
  phone: string | null
  description: string | null
  provider_ref: string | null // as we keep it: see core/text.ts
  redirect_url: string | null // the provider's page, where an answer that named it has reached us
  callback_url: string // the provider may call back here; then we ask
  webhook_url: string // of the account: what comes there, or behind it, is given to `hear`
  return_url: string // where the provider's page sends the customer back to
  lang?: string // of the page that the customer came from: the provider's own may speak it
}
