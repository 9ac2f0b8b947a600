import { cleanId } from '../text.ts'
import type { WebhookUpdate } from './webhook.ts'

const mostNews = 20 // of one webhook
const maxKey = 100

// What a provider read in a webhook, fit to be looked up and written down. Undefined: it is not the provider's.
export function sanitizeWebhook(told: unknown): WebhookUpdate[] | undefined {
  if (!Array.isArray(told)) return undefined
  return told.slice(0, mostNews).flatMap((one: Readonly<Record<string, unknown>>) => {
    const { idempotency_key: key, provider_ref, check_reversals } = one ?? {}
    if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key) || key.length > maxKey) return []
    const reference = provider_ref === undefined ? undefined : cleanId(provider_ref)
    return [
      {
        idempotency_key: key,
        ...(reference && { provider_ref: reference }),
        ...(check_reversals === true && { check_reversals }),
      },
    ]
  })
}
