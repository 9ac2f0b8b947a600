import type { Currency } from '../money.ts'

// An attempt as a provider module gets it.
export type Order = {
  attempt_id: string
  idempotency_key: string // identifies the order at the provider
  number: number // of the attempt: 1, 2, 3 of its payment
  started_at: Date
  sent_at: Date // when the order or the customer's input was last sent
  ends_at: Date // sent_at and the lifetime of the prompt, page or code: the customer cannot approve later
  is_first_sending: boolean // no earlier sending can have reached the provider
  provider_code: string | null // of the last reply to a sending that refused it or failed
  check_reversals: boolean // refunds and disputes of the charge have to be read as well
  tx_reference: string
  invoice_id: string
  payment_method: string
  amount: bigint
  currency: Currency
  given: Readonly<Record<string, string>> // by field name; a phone number is E.164
  merchant_id: string
  merchant_name: string
  email: string | null // email, name and phone: from the merchant, or from the customer's input
  name: string | null
  phone: string | null
  description: string | null
  provider_ref: string | null // as stored: see cleanId in core/text.ts
  redirect_url: string | null // the provider's page, if a reply with its address has arrived
  callback_url: string // a call to it prompts a status question
  webhook_url: string // of the account; requests below it are passed to `handleWebhook`
  return_url: string // where the provider's page sends the customer back to
  lang?: string // language of the page that the customer came from
}
