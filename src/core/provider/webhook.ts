// A request of the provider, as it came. `path` is what stands behind the account's address.
export type Webhook = {
  path: string
  headers: Readonly<Record<string, string | undefined>> // by the name in small letters
  body: Buffer
  address: string // whose connection it came by
}

// What a webhook tells of an order. It only prompts a question to the provider: amounts and ids come from the answer.
export type WebhookUpdate = {
  idempotency_key: string // the order's
  provider_ref?: string // an id that no answer has
  check_reversals?: boolean // it is about a refund or a dispute
}
