import type { Reversal } from './reply.ts'

// A request of the provider, as it came. `path` is what stands behind the account's address.
export type Webhook = {
  path: string
  headers: Readonly<Record<string, string | undefined>> // by the name in small letters
  body: Buffer
  address: string // whose connection it came by
}

// What a webhook tells of an order. It makes us ask. What else it says counts only as far as it stands here: an id that
// no answer has, and that money went back after all.
export type OrderNews = {
  key: string // the order's
  provider_ref?: string
  reversal?: Reversal
}
