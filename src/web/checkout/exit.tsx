import type { Checkout } from '../../actions/payments/openCheckout.ts'
import { Sentence } from '../../core/markup/page.tsx'
import type { SettingName, MerchantSettings } from '../../core/merchant/settings.ts'
import { originOf, parseUrl } from '../../core/text.ts'
import { type View, wholeWindow } from './view.ts'

// A link to the shop: exactly the address that the merchant gave. If the merchant has registered its origins, a page
// redirects only to those (`known`); for another address the button names the host. If the setting cannot be read, no
// address is known. The host is in ASCII (punycode), so that no lookalike letter can hide in it.
export type Exit = { url: string; host: string; known: boolean }

export function exitTo(
  url: string | null,
  { allowed_origins }: Pick<MerchantSettings, 'allowed_origins'>,
  unreadable: readonly SettingName[] = [],
): Exit | undefined {
  if (url === null || parseUrl(url) !== undefined) return undefined
  const open = allowed_origins.length === 0 && !unreadable.includes('allowed_origins')
  const known = open || allowed_origins.includes(originOf(url) ?? '')
  return { url, host: new URL(url).host, known }
}

type ExitUrls = Pick<Checkout, 'settings' | 'unreadable' | 'success_url' | 'cancelled_url' | 'deferred_url'>

export const paidExit = (urls: ExitUrls) => exitTo(urls.success_url, urls.settings, urls.unreadable)
export const cancelledExit = (urls: ExitUrls) => exitTo(urls.cancelled_url, urls.settings, urls.unreadable)
export const deferredExit = (urls: ExitUrls) =>
  exitTo(urls.deferred_url ?? urls.success_url, urls.settings, urls.unreadable)

// The address to which the page redirects, if it saw the payment end.
export function exitByItself(checkout: ExitUrls & Pick<Checkout, 'stage'>): Exit | undefined {
  if (checkout.stage === 'paid') return paidExit(checkout)
  return checkout.stage === 'cancelled' ? cancelledExit(checkout) : undefined
}

type LeaveProps = { view: View; exit: Exit | undefined; text: string; button?: boolean }

// The link back to the shop. The customer may have passed the address through, so the page names its host: here, in the
// notice before a redirect, or in the button if the host is not registered.
export const Leave = ({ view, exit, text, button }: LeaveProps) =>
  exit ? (
    <p class={button ? undefined : 'quiet'}>
      <a href={exit.url} rel="noreferrer" class={button ? 'button' : undefined} {...wholeWindow(view)}>
        {exit.known ? (
          <Sentence text={text} shop={<bdi>{view.checkout.merchant_name}</bdi>} />
        ) : (
          <Sentence text={view.t.leave.to} host={<bdi>{exit.host}</bdi>} />
        )}
      </a>
      {exit.known && !view.leaves && (
        <small class="host">
          <Sentence text={view.t.leave.leads} host={<bdi>{exit.host}</bdi>} />
        </small>
      )}
    </p>
  ) : null

// The notice before the redirect.
export const LeavingSoon = ({ view, exit }: Pick<LeaveProps, 'view' | 'exit'>) =>
  view.leaves && exit ? (
    <p class="quiet soon">
      <Sentence
        text={view.t.leave.soon}
        shop={<bdi>{view.checkout.merchant_name}</bdi>}
        host={<bdi>{exit.host}</bdi>}
      />
    </p>
  ) : null
