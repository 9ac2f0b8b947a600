import { cleanId } from '../stranger.ts'
import type { OrderNews } from './webhook.ts'

const mostNews = 20 // of one webhook
const maxKey = 100

// What a channel read in a webhook, fit to be looked up and written down. Undefined: it is not the provider's.
export function orderNews(told: unknown): OrderNews[] | undefined {
  if (!Array.isArray(told)) return undefined
  return told.slice(0, mostNews).flatMap((one: Readonly<Record<string, unknown>>) => {
    const { key, provider_ref, check_reversals } = one ?? {}
    if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key) || key.length > maxKey) return []
    const reference = provider_ref === undefined ? undefined : cleanId(provider_ref)
    return [
      {
        key,
        ...(reference && { provider_ref: reference }),
        ...(check_reversals === true && { check_reversals }),
      },
    ]
  })
}
