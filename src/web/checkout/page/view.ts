import type { Checkout } from '../../../actions/payments/openCheckout.ts'
import { wayName } from '../../../core/channel/wayNames.ts'
import type { Texts } from '../../../core/languages/en.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { figureWords, moneyWords } from '../../../core/moneyWords.ts'
import { isUnresolved } from '../../../core/payment/attempt.ts'
import { fill } from '../../../core/text.ts'
import type { Offer } from '../../../runtime/channels.ts'

// What every page of a payment is made from.
export type View = {
  checkout: Checkout
  lang: Lang
  t: Texts
  asked?: Lang // the customer chose the language here, so links carry it on
  visit?: string // the same: what this visit is called while the payment has not ended
  leaves?: boolean // for the shop, by itself: this visit saw the payment end
  framed?: boolean // the shop shows this page in a frame of its own
  receiptTo?: readonly string[] // where the receipt goes by SMS or email, masked
  now: Date
  baseUrl: string
  formToken: string // for the forms of this payment's pages
}

// As the page's readers write it. A page says it many times, so it is written once and goes with the payment.
export function amountOf({ checkout, t }: Pick<View, 'checkout' | 't'>): string {
  const known = amounts.get(checkout)
  if (known?.locale === t.locale) return known.words
  const words = moneyWords(checkout.total, checkout.currency, t.locale)
  amounts.set(checkout, { locale: t.locale, words })
  return words
}

const amounts = new WeakMap<Checkout, { locale: string; words: string }>()

// The same without the currency, for a column of them.
export const figureOf = ({ checkout, t }: Pick<View, 'checkout' | 't'>, minor: bigint) =>
  figureWords(minor, checkout.currency, t.locale)

type Carried = Pick<View, 'checkout' | 'asked' | 'visit'>

// What is carried on is a language of ours, and a name that was looked at: letters, digits and hyphens.
export function linkTo(view: Carried, path = '', query: Readonly<Record<string, string>> = {}): string {
  const { checkout, asked, visit } = view
  let words = ''
  for (const name in query) words += `&${name}=${encodeURIComponent(query[name] ?? '')}`
  if (asked) words += `&lang=${asked}`
  if (visit) words += `&visit=${visit}`
  return `/checkout/${checkout.tx_token}${path}${words && `?${words.slice(1)}`}`
}

// What a page loads beside itself.
export const partOf = ({ checkout, asked }: View, path: string) => linkTo({ checkout, asked }, path)

// What changed comes first: it is all that a row of tabs shows.
export const titleOf = (view: View, words: string) =>
  words.includes(amountOf(view))
    ? `${words} · ${view.checkout.merchant_name}`
    : `${words} · ${amountOf(view)} · ${view.checkout.merchant_name}`

export const attemptOf = ({ checkout: { attempts } }: View) => attempts.find(isUnresolved) ?? attempts.at(-1)

// The way of an attempt may not be offered any more; it still has a name.
export const offerOf = ({ checkout }: View, payment_method: string) =>
  checkout.offers.find(offer => offer.payment_method === payment_method)

// Whatever is not ours opens in the whole window: it may not want to be framed, and a shop within its own page is odd.
export const wholeWindow = ({ checkout }: View) =>
  checkout.settings.frame_origins.length > 0 ? { target: '_top' } : {}

// What is no brand has a name in each language.
export function nameOf({ payment_method, label }: Pick<Offer, 'payment_method' | 'label'>, { names }: Texts) {
  const known: Readonly<Record<string, string>> = names
  return known[payment_method] ?? label
}

export const labelOf = (view: View, payment_method: string): string =>
  nameOf(offerOf(view, payment_method) ?? { payment_method, label: wayName(payment_method) }, view.t)

export const secondsTo = (at: Date, from: Date) =>
  Math.max(0, Math.ceil((at.getTime() - from.getTime()) / 1000))

export const secondsLeft = ({ checkout, now }: View) => secondsTo(checkout.expires_at, now)

// As the script writes it on, minute by minute.
export function timeLeft(seconds: number, { frame }: Texts): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return `${seconds} s`
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48
    ? fill(frame.hours, { count: hours })
    : fill(frame.days, { count: Math.round(hours / 24) })
}

// Changes whenever the page would look different; the script compares.
export function versionOf(view: View): string {
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
