import type { Checkout } from '../../actions/payments/openCheckout.ts'
import { Sentence } from '../../core/markup/page.tsx'
import type { SettingName, MerchantSettings } from '../../core/merchant/settings.ts'
import { originOf, parseUrl } from '../../core/text.ts'
import { type View, topTarget } from './view.ts'

// A link to the shop, with exactly the address from the request. If the merchant has registered its origins, only their
// addresses are trusted: a page redirects only to a trusted address, and the button for another one names the host. If
// the setting cannot be read, no address is trusted. The host is in ASCII (punycode), which shows lookalike letters.
export type Exit = { url: string; host: string; trusted: boolean }

export function exitTo(
  url: string | null,
  { allowed_origins }: Pick<MerchantSettings, 'allowed_origins'>,
  unreadable: readonly SettingName[] = [],
): Exit | undefined {
  if (url === null || parseUrl(url) !== undefined) return undefined
  const isOpen = allowed_origins.length === 0 && !unreadable.includes('allowed_origins')
  const trusted = isOpen || allowed_origins.includes(originOf(url) ?? '')
  return { url, host: new URL(url).host, trusted }
}

type ExitUrls = Pick<Checkout, 'settings' | 'unreadable' | 'success_url' | 'cancelled_url' | 'deferred_url'>

export const paidExit = (urls: ExitUrls) => exitTo(urls.success_url, urls.settings, urls.unreadable)
export const cancelledExit = (urls: ExitUrls) => exitTo(urls.cancelled_url, urls.settings, urls.unreadable)
export const deferredExit = (urls: ExitUrls) =>
  exitTo(urls.deferred_url ?? urls.success_url, urls.settings, urls.unreadable)

// The address to which the page redirects, if it saw the payment end.
export function redirectExit(checkout: ExitUrls & Pick<Checkout, 'stage'>): Exit | undefined {
  if (checkout.stage === 'paid') return paidExit(checkout)
  return checkout.stage === 'cancelled' ? cancelledExit(checkout) : undefined
}

type ShopLinkProps = { view: View; exit: Exit | undefined; text: string; button?: boolean }

// The link back to the shop. The address may have come through the customer's browser, so the page names its host: below
// the link, in the notice before a redirect, or in the button if the address is not trusted.
export const ShopLink = ({ view, exit, text, button }: ShopLinkProps) =>
  exit ? (
    <p>
      <a
        href={exit.url}
        rel="noreferrer"
        class={button ? 'btn wide big' : 'btn quiet wide'}
        {...topTarget(view)}
      >
        {exit.trusted ? (
          <Sentence text={text} shop={<bdi>{view.checkout.merchant_name}</bdi>} />
        ) : (
          <Sentence text={view.t.leave.to} host={<bdi>{exit.host}</bdi>} />
        )}
      </a>
      {exit.trusted && !view.redirects && (
        <small class="host">
          <Sentence text={view.t.leave.leads} host={<bdi>{exit.host}</bdi>} />
        </small>
      )}
    </p>
  ) : null

// The notice before the redirect.
export const RedirectNotice = ({ view, exit }: Pick<ShopLinkProps, 'view' | 'exit'>) =>
  view.redirects && exit ? (
    <p class="soon">
      <Sentence
        text={view.t.leave.soon}
        shop={<bdi>{view.checkout.merchant_name}</bdi>}
        host={<bdi>{exit.host}</bdi>}
      />
    </p>
  ) : null
