import type { ErrorHandler, MiddlewareHandler } from 'hono'
import type { Carries } from '../../actions/messages/receiptTo.ts'
import type { PaymentDeps } from '../../actions/payments/deps.ts'
import { openCheckout } from '../../actions/payments/openCheckout.ts'
import { formTokenField, formTokenOf, isFormToken } from '../../core/formOrigin.ts'
import type { Fields } from '../../core/interface/json.ts'
import { TooBusy } from '../../core/interface/refusal.ts'
import { chosenLang, languages, preferredLang } from '../../core/languages/languages.ts'
import { isToken } from '../../runtime/ids.ts'
import { databaseDeadline } from '../../runtime/inTime.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { addressOf } from '../http/apiRequest.ts'
import { hasBody, readFields } from '../http/body.ts'
import { type Ctx, type Env, plainly } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import { senderOf } from '../http/fromHere.ts'
import { drawn } from './drawn.ts'
import {
  BrokenPage,
  BusyPage,
  ElsewherePage,
  NoPaymentPage,
  TooBusyPage,
  UnreachablePage,
  UnreadablePage,
} from './page/trouble.tsx'
import { linkTo, type View } from './page/view.ts'
import { headersOf, show } from './show.ts'
import { visitOf } from './visit.ts'

export type CheckoutOptions = {
  runtime: PaymentDeps & Pick<Runtime, 'limits' | 'bodies' | 'checkouts' | 'formKey'>
  trustedProxies: number
  carries?: Carries // which messages leave the house
}
type PageAnswer = Response | Promise<Response>

const retrySeconds = '5'

// By the deadline everything that the request asks of the database has to be done.
type AnswerWith = (c: Ctx, view: View, deadline: number) => PageAnswer

// Finds the payment behind the address for a route that answers with it.
export const withPayment = (options: CheckoutOptions, answer: AnswerWith) =>
  withToken(options, async (c, token) => {
    const { runtime } = options
    const deadline = databaseDeadline()
    const found = await openCheckout(runtime, token, deadline)
    if (!found) return nothingHere(c, options)
    const checkout = drawn(found)
    c.set('frameOrigins', checkout.settings.frame_origins)
    const lang = langOf(c)
    const asked = chosenLang(c.req.query('lang'))
    const said = { lang, t: languages[lang], asked, visit: visitOf(c), framed: isFramed(c) }
    const formToken = formTokenOf(runtime.formKey, ['checkout', token])
    const view = { checkout, ...said, now: runtime.clock(), baseUrl: runtime.baseUrl(), formToken }
    return answer(c, view, deadline)
  })

// Browsers say where a page is to be shown; of one that does not, it is unknown.
const isFramed = (c: Ctx) => {
  const place = c.req.header('sec-fetch-dest')
  return place ? ['iframe', 'frame', 'embed', 'object'].includes(place) : undefined
}

// Looks at what costs nothing before anything else is done.
export const withToken =
  (options: CheckoutOptions, answer: (c: Ctx, token: string) => PageAnswer) =>
  (c: Ctx): PageAnswer => {
    options.runtime.limits.visit(addressOf(c.env.incoming, options.trustedProxies))
    const token = c.req.param('token') ?? ''
    return isToken(token) ? answer(c, token) : nothingHere(c, options)
  }

function nothingHere(c: Ctx, { runtime, trustedProxies }: CheckoutOptions) {
  runtime.limits.astray(addressOf(c.env.incoming, trustedProxies))
  return show(c, <NoPaymentPage lang={langOf(c)} />, 404)
}

type AnswerForm = (c: Ctx, view: View, fields: Fields, deadline: number) => PageAnswer

// A form of another site changes nothing here. Its body is not even read.
export const fromHere =
  ({ runtime, trustedProxies }: CheckoutOptions, answer: AnswerForm) =>
  async (c: Ctx, view: View, deadline: number) => {
    const sender = senderOf(c, view.baseUrl)
    if (sender === 'other_site') return elsewhere(c, view)
    const { incoming } = c.env
    const from = { runtime, address: addressOf(incoming, trustedProxies) }
    const fields = hasBody(incoming) ? (await readFields(incoming, from)).fields : {}
    if (sender === 'unproven' && !isFormToken(view.formToken, fields[formTokenField]))
      return elsewhere(c, view)
    return answer(c, view, fields, deadline)
  }

const elsewhere = (c: Ctx, view: View) => show(c, <ElsewherePage lang={view.lang} open={linkTo(view)} />, 403)

export const goTo = (c: Ctx, url: string) => plainly(c, 303, null, headersOf(c), { location: url })

const langOf = (c: Ctx) => chosenLang(c.req.query('lang')) ?? preferredLang(c.req.header('accept-language'))

// What is our bug was logged and answered as JSON by whom we are mounted at.
export const brokenPage: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  if (c.res.status !== 500) return
  const page = <BrokenPage lang={langOf(c)} requestId={c.get('requestId')} />
  c.res = undefined // or the headers of the JSON would stay
  c.res = show(c, page, 500)
}

// A customer reads pages, not JSON. What is our bug goes on to where bugs are logged.
export const troublePage: ErrorHandler<Env> = (error, c) => {
  if (!isRefusal(error)) throw error
  const lang = langOf(c)
  const last = error.isBodyUnread ? { connection: 'close' } : undefined
  if (error instanceof TooBusy) {
    const headers = { 'retry-after': String(error.retryAfterSeconds ?? 1), ...last }
    return show(c, <TooBusyPage lang={lang} />, error.http, headers)
  }
  if (error.http === 503)
    return show(c, <UnreachablePage lang={lang} />, 503, { 'retry-after': retrySeconds })
  if (error.http === 429)
    return show(c, <BusyPage lang={lang} />, 429, { 'retry-after': String(error.retryAfterSeconds ?? 1) })
  const open = `/checkout/${encodeURIComponent(c.req.param('token') ?? '')}`
  return show(c, <UnreadablePage lang={lang} open={open} />, error.http, last)
}
