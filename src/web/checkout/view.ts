import type { Checkout } from '../../actions/payments/openCheckout.ts'
import type { Texts } from '../../core/languages/en.ts'
import type { Lang } from '../../core/languages/languages.ts'
import { localizedFigure, localizedMoney } from '../../core/money.ts'
import { type Attempt, isUnresolved } from '../../core/payment/attempt.ts'
import { paymentMethodName } from '../../core/provider/paymentMethod.ts'
import { fill } from '../../core/text.ts'
import type { AvailableMethod } from '../../runtime/providers/availableMethods.ts'

// The data that every page of a payment is rendered from.
export type View = {
  checkout: Checkout
  lang: Lang
  t: Texts
  urlLang?: Lang // the language that the address names, because the customer chose it; links repeat it
  visit?: string // the id of this visit; links repeat it until the payment has ended
  redirects?: boolean // this visit saw the payment end and redirects to the shop
  framed?: boolean // shown in a frame of the shop
  receiptTo?: readonly string[] // where the receipt is sent, masked
  isCopy?: boolean // of the database: no live payment is taken
  willText?: boolean // the customer gets an SMS when the payment has ended
  now: Date
  baseUrl: string
  formToken: string
}

export type AttemptProps = { view: View; attempt: Attempt }

// The amount in the page's language. A page shows it many times, so it is cached with the payment.
export function amountOf({ checkout, t }: Pick<View, 'checkout' | 't'>): string {
  const cached = amounts.get(checkout)
  if (cached?.locale === t.locale) return cached.text
  const text = localizedMoney(checkout.total, checkout.currency, t.locale)
  amounts.set(checkout, { locale: t.locale, text })
  return text
}

const amounts = new WeakMap<Checkout, { locale: string; text: string }>()

// An amount without the currency, for a column.
export const figureOf = ({ checkout, t }: Pick<View, 'checkout' | 't'>, minor: bigint) =>
  localizedFigure(minor, checkout.currency, t.locale)

type LinkState = Pick<View, 'checkout' | 'urlLang' | 'visit'>

// `urlLang` and `visit` are validated: letters, digits and hyphens.
export function linkTo(view: LinkState, path = '', query: Readonly<Record<string, string>> = {}): string {
  const { checkout, urlLang, visit } = view
  let search = ''
  for (const name in query) search += `&${name}=${encodeURIComponent(query[name] ?? '')}`
  if (urlLang) search += `&lang=${urlLang}`
  if (visit) search += `&visit=${visit}`
  return `/checkout/${checkout.tx_token}${path}${search && `?${search.slice(1)}`}`
}

// The address of a resource that the page loads. It has no visit id, which only pages need.
export const resourceOf = ({ checkout, urlLang }: View, path: string) => linkTo({ checkout, urlLang }, path)

// The status comes first, because a tab shows only the beginning.
export const titleOf = (view: View, status: string) =>
  status.includes(amountOf(view))
    ? `${status} · ${view.checkout.merchant_name}`
    : `${status} · ${amountOf(view)} · ${view.checkout.merchant_name}`

export const attemptOf = ({ checkout: { attempts } }: Pick<View, 'checkout'>) =>
  attempts.find(isUnresolved) ?? attempts.at(-1)

// Undefined if the payment method is no longer offered.
export const methodOf = ({ checkout }: View, payment_method: string) =>
  checkout.methods.find(method => method.payment_method === payment_method)

// What the customer has to do for an attempt.
export const nextOf = (view: View, { payment_method }: Pick<Attempt, 'payment_method'>) =>
  methodOf(view, payment_method)?.next ?? 'prompt'

// Links to other sites open in the whole window, not in the shop's frame: the site may forbid framing, and the shop must
// not open inside its own page.
export const topTarget = ({ checkout }: View) =>
  checkout.settings.frame_origins.length > 0 ? { target: '_top' } : {}

// Payment methods without a brand name are translated.
export function methodName(
  { payment_method, label }: Pick<AvailableMethod, 'payment_method' | 'label'>,
  { names }: Texts,
) {
  const translated: Readonly<Record<string, string>> = names
  return translated[payment_method] ?? label
}

export const methodLabel = (view: View, payment_method: string): string =>
  methodName(
    methodOf(view, payment_method) ?? { payment_method, label: paymentMethodName(payment_method) },
    view.t,
  )

export const secondsUntil = (at: Date, from: Date) =>
  Math.max(0, Math.ceil((at.getTime() - from.getTime()) / 1000))

export const secondsLeft = ({ checkout, now }: View) => secondsUntil(checkout.expires_at, now)

// The same format as in the script, which counts minutes.
export function timeLeft(seconds: number, { frame }: Texts): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return `${seconds} s`
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48
    ? fill(frame.hours, { count: hours })
    : fill(frame.days, { count: Math.round(hours / 24) })
}

// Changes whenever the page would look different. The script compares it.
export function versionOf(view: Pick<View, 'checkout'>): string {
  const { checkout } = view
  const attempt = attemptOf(view)
  const parts = [checkout.stage, checkout.attempts.length, attempt?.state ?? 'none']
  if (attempt?.step) parts.push(`${attempt.step.name}${attempt.submits}`)
  if (attempt?.redirect_url) parts.push('redirect')
  if (attempt?.qr) parts.push('qr')
  if (attempt?.returned_at) parts.push('back')
  if (attempt?.gave_up_at) parts.push('given-up')
  return parts.join('-')
}
