import type { Checkout } from '../../../actions/payments/openCheckout.ts'
import type { SettingName, Settings } from '../../../core/merchant/settings.ts'
import { originOf, parseUrl } from '../../../core/text.ts'

// A way out to the shop: exactly the address that the merchant gave. Where the merchant has registered its origins,
// an address elsewhere is not followed by itself, and the button says where it leads; nor is any while nobody can read
// which they are. The host is written as browsers look it up, so that no letter passes for another.
export type Exit = { url: string; host: string; known: boolean }

export function exitTo(
  url: string | null,
  { allowed_origins }: Pick<Settings, 'allowed_origins'>,
  unreadable: readonly SettingName[] = [],
): Exit | undefined {
  if (url === null || parseUrl(url) !== undefined) return undefined
  const open = allowed_origins.length === 0 && !unreadable.includes('allowed_origins')
  const known = open || allowed_origins.includes(originOf(url) ?? '')
  return { url, host: new URL(url).host, known }
}

type Ways = Pick<Checkout, 'settings' | 'unreadable' | 'success_url' | 'cancelled_url' | 'deferred_url'>

export const paidExit = (ways: Ways) => exitTo(ways.success_url, ways.settings, ways.unreadable)
export const cancelledExit = (ways: Ways) => exitTo(ways.cancelled_url, ways.settings, ways.unreadable)
export const deferredExit = (ways: Ways) =>
  exitTo(ways.deferred_url ?? ways.success_url, ways.settings, ways.unreadable)

// Where the page goes by itself, when it is the one that saw the payment end.
export function exitByItself(checkout: Ways & Pick<Checkout, 'stage'>): Exit | undefined {
  if (checkout.stage === 'paid') return paidExit(checkout)
  return checkout.stage === 'cancelled' ? cancelledExit(checkout) : undefined
}
