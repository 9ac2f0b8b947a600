import type { ErrorHandler, MiddlewareHandler } from 'hono'
import type { CanSend } from '../../actions/messages/receipts.ts'
import { type Checkout, openCheckout } from '../../actions/payments/openCheckout.ts'
import { endedAt } from '../../core/checkout/stage.ts'
import { formTokenField, formTokenOf, isFormToken } from '../../core/formOrigin.ts'
import type { Fields } from '../../core/interface/json.ts'
import { NotOriginal, TooBusy } from '../../core/interface/refusal.ts'
import { chosenLang, languages, preferredLang } from '../../core/languages/languages.ts'
import { type Contacts, maskContacts } from '../../core/mask.ts'
import { stripBidiControls } from '../../core/text.ts'
import { isToken, newVisit } from '../../runtime/ids.ts'
import { databaseDeadline } from '../../runtime/deadline.ts'
import type { PaymentDeps, Runtime } from '../../runtime/runtime.ts'
import { addressOf } from '../http/apiRequest.ts'
import { hasBody, readFields } from '../http/body.ts'
import { type Ctx, type Env, plainResponse } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import { senderOf } from '../http/operatorAuth.ts'
import { TroublePage } from '../pages/customerPage.tsx'
import { headersOf, sendPage } from '../pages/sendPage.ts'
import { linkTo, type View } from './view.ts'

export type CheckoutOptions = {
  runtime: PaymentDeps & Pick<Runtime, 'limits' | 'bodies' | 'checkouts' | 'formKey'>
  trustedProxies: number
  canSend?: CanSend // which messages are really sent
}
type PageAnswer = Response | Promise<Response>

// All database work of the request ends before the deadline.
type AnswerWith = (c: Ctx, view: View, deadline: number) => PageAnswer

// Wraps a route that needs the payment of the address.
export const withPayment = (options: CheckoutOptions, answer: AnswerWith) =>
  withCheckoutToken(options, async (c, token) => {
    const { runtime } = options
    const deadline = databaseDeadline()
    const checkout = await openCheckout(runtime, token, deadline)
    if (!checkout) return unknownToken(c, options)
    c.set('frameOrigins', checkout.settings.frame_origins)
    const lang = langOf(c)
    const view = {
      checkout: checkoutForPage(checkout),
      lang,
      t: languages[lang],
      urlLang: chosenLang(c.req.query('lang')),
      visit: visitOf(c),
      framed: isFramed(c),
      isCopy: runtime.installation().is !== 'original',
      now: runtime.clock(),
      baseUrl: runtime.baseUrl(),
      formToken: formTokenOf(runtime.formKey, ['checkout', token]),
    }
    return answer(c, view, deadline)
  })

// Undefined if the browser does not send Sec-Fetch-Dest.
const isFramed = (c: Ctx) => {
  const destination = c.req.header('sec-fetch-dest')
  return destination ? ['iframe', 'frame', 'embed', 'object'].includes(destination) : undefined
}

// Wraps a route that needs only the token. The checks need no database.
export const withCheckoutToken =
  (options: CheckoutOptions, answer: (c: Ctx, token: string) => PageAnswer) =>
  (c: Ctx): PageAnswer => {
    options.runtime.limits.visit(addressOf(c.env.incoming, options.trustedProxies))
    const token = c.req.param('token') ?? ''
    return isToken(token) ? answer(c, token) : unknownToken(c, options)
  }

function unknownToken(c: Ctx, { runtime, trustedProxies }: CheckoutOptions) {
  runtime.limits.unknownToken(addressOf(c.env.incoming, trustedProxies))
  return sendPage(c, <TroublePage kind="no_payment" lang={langOf(c)} />, 404)
}

export type FormRoute = (c: Ctx, view: View, fields: Fields, deadline: number) => PageAnswer

// Wraps a route that takes a form. A form of another site is refused, and its body is not read.
export const withOwnForm =
  ({ runtime, trustedProxies }: CheckoutOptions, answer: FormRoute) =>
  async (c: Ctx, view: View, deadline: number) => {
    const sender = senderOf(c, view.baseUrl)
    if (sender === 'other_site') return foreignForm(c, view)
    const { incoming } = c.env
    const from = { runtime, address: addressOf(incoming, trustedProxies) }
    const fields = hasBody(incoming) ? (await readFields(incoming, from)).fields : {}
    if (sender === 'unproven' && !isFormToken(view.formToken, fields[formTokenField]))
      return foreignForm(c, view)
    return answer(c, view, fields, deadline)
  }

const foreignForm = (c: Ctx, view: View) =>
  sendPage(c, <TroublePage kind="elsewhere" lang={view.lang} open={linkTo(view)} />, 403)

export const redirectTo = (c: Ctx, url: string) =>
  plainResponse(c, 303, null, headersOf(c), { location: url })

const langOf = (c: Ctx) => chosenLang(c.req.query('lang')) ?? preferredLang(c.req.header('accept-language'))

// The parent app has logged a bug and answered with JSON. This replaces the JSON by a page.
export const bugPage: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  if (c.res.status !== 500) return
  const page = <TroublePage kind="broken" lang={langOf(c)} requestId={c.get('requestId')} />
  c.res = undefined // otherwise the headers of the JSON answer stay
  c.res = sendPage(c, page, 500)
}

// Answers a refusal with a page. Any other error is a bug, which the parent app logs.
export const errorPage: ErrorHandler<Env> = (error, c) => {
  if (!isRefusal(error)) throw error
  const lang = langOf(c)
  const close = error.isBodyUnread ? { connection: 'close' } : undefined
  const retryAfter = { 'retry-after': String(error.retryAfterSeconds ?? 1) }
  if (error instanceof TooBusy)
    return sendPage(c, <TroublePage kind="too_busy" lang={lang} />, error.http, { ...retryAfter, ...close })
  if (error instanceof NotOriginal)
    return sendPage(c, <TroublePage kind="copy" lang={lang} />, 503, retryAfter)
  if (error.http === 503)
    return sendPage(c, <TroublePage kind="unreachable" lang={lang} />, 503, { 'retry-after': '5' })
  if (error.http === 429) return sendPage(c, <TroublePage kind="busy" lang={lang} />, 429, retryAfter)
  const open = `/checkout/${encodeURIComponent(c.req.param('token') ?? '')}`
  return sendPage(c, <TroublePage kind="unreadable" lang={lang} open={open} />, error.http, close)
}

// The payment as the pages show it. Bidi controls are removed from the texts of the shop, because they also reach the
// window title. The link may be passed on, so the customer's number and email address are masked in texts of the shop
// and the provider.
export function checkoutForPage(checkout: Checkout): Checkout {
  const contacts = contactsOf(checkout)
  const masked = (text: string) => maskContacts(text, contacts)
  return {
    ...checkout,
    merchant_name: stripBidiControls(checkout.merchant_name),
    payment_reference: checkout.payment_reference && stripBidiControls(checkout.payment_reference),
    description: checkout.description && masked(stripBidiControls(checkout.description)),
    line_items:
      checkout.line_items?.map(item => ({ ...item, name: masked(stripBidiControls(item.name)) })) ?? null,
    branding: {
      ...checkout.branding,
      ...(checkout.branding.refund_policy && {
        refund_policy: stripBidiControls(checkout.branding.refund_policy),
      }),
    },
    attempts: checkout.attempts.map(attempt => ({
      ...attempt,
      provider_text: attempt.provider_text && masked(attempt.provider_text),
      step: attempt.step && {
        ...attempt.step,
        ...(attempt.step.text && { text: masked(attempt.step.text) }),
      },
    })),
  }
}

function contactsOf({ number, pymt_instrument, email, attempts }: Checkout): Contacts {
  const phones = [number, pymt_instrument, ...attempts.map(({ instrument }) => instrument)]
  const emails = [email, ...attempts.map(({ given }) => given.email)]
  return {
    phones: [...new Set(phones)].filter(phone => phone?.startsWith('+')) as string[],
    emails: [...new Set(emails)].filter(Boolean) as string[],
  }
}

// A visit is one browser from its first page of the payment to the last. There are no cookies, so its id is in the
// address of each page. It allows one redirect to the shop: a page that is opened again, or from a shared link, does
// not redirect.
function visitOf(c: Ctx): string | undefined {
  const id = c.req.query('visit') ?? ''
  return /^[\w-]{1,20}$/.test(id) ? id : undefined
}

// Adds an id for a new visit. A visit that begins after the end gets none, because it has not seen the payment end.
export const onVisit = (view: View): View =>
  view.visit || endedAt(view.checkout) ? view : { ...view, visit: newVisit() }

// The provider's return address has no visit id, so each attempt has a fixed one for it.
export const returnVisit = ({ number }: { number: number }) => `back-${number}`
