import { cleanId } from '../text.ts'

const mostUpdates = 20 // in one webhook
const maxKey = 100

// A webhook request as it was received. `path` is the part after the account's address.
export type Webhook = {
  path: string
  headers: Readonly<Record<string, string | undefined>> // names in lower case
  body: Buffer
  address: string // of the connection
}

// The content of a webhook about an order. It only prompts a status question: amounts and ids are taken from the reply to that.
export type WebhookUpdate = {
  idempotency_key: string // the order's
  provider_ref?: string // an id that status replies do not contain
  check_reversals?: boolean // the webhook is about a refund or a dispute
  refund_key?: string // the idempotency_key of our refund that the webhook is about
}

// Checks what a provider module read from a webhook. Undefined: the webhook is not from the provider.
export function sanitizeWebhook(raw: unknown): WebhookUpdate[] | undefined {
  if (!Array.isArray(raw)) return undefined
  return raw.slice(0, mostUpdates).flatMap((update: Readonly<Record<string, unknown>>) => {
    const { idempotency_key, provider_ref, check_reversals, refund_key } = update ?? {}
    if (!isKey(idempotency_key)) return []
    const reference = provider_ref === undefined ? undefined : cleanId(provider_ref)
    return [
      {
        idempotency_key,
        ...(reference && { provider_ref: reference }),
        ...(check_reversals === true && { check_reversals }),
        ...(isKey(refund_key) && { refund_key }),
      },
    ]
  })
}

const isKey = (key: unknown): key is string =>
  typeof key === 'string' && key.length <= maxKey && /^[\x21-\x7e]+$/.test(key)
