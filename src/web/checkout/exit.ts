import type { Settings } from '../../core/settings.ts'
import { originOf, parseUrl } from '../../core/text.ts'

// A way out to the shop: exactly the address that the merchant gave. Where the merchant has registered its origins,
// an address elsewhere is not followed by itself, and the button says where it leads.
export type Exit = { url: string; host: string; known: boolean }

export function exitTo(
  url: string | null,
  { allowed_origins }: Pick<Settings, 'allowed_origins'>,
): Exit | undefined {
  if (url === null || parseUrl(url) !== undefined) return undefined
  const known = allowed_origins.length === 0 || allowed_origins.includes(originOf(url) ?? '')
  return { url, host: new URL(url).host, known }
}
