import { Hono } from 'hono'
import { requireOriginal } from '../../actions/installation/requireOriginal.ts'
import { receiptTo } from '../../actions/messages/receipts.ts'
import { cancel } from '../../actions/payments/cancel.ts'
import { redirectOnce } from '../../actions/payments/redirectOnce.ts'
import { wakeDispatchers } from '../../actions/payments/writeChanges.ts'
import { createReturnPolls } from '../../actions/providers/pollOnReturn.ts'
import { chosenLang, type Lang, languages } from '../../core/languages/languages.ts'
import { PageFrame } from '../../core/markup/page.tsx'
import { withShortDeadline } from '../../runtime/deadline.ts'
import { jsonType } from '../http/apiRequest.ts'
import { type Ctx, type Env, plainResponse } from '../http/context.ts'
import { framePolicy, headersOf, sendPage } from '../pages/sendPage.ts'
import { redirectExit } from './exit.tsx'
import {
  bugPage,
  type CheckoutOptions,
  errorPage,
  type FormRoute,
  redirectTo,
  onVisit,
  returnVisit,
  withCheckoutToken,
  withOwnForm,
  withPayment,
} from './open.tsx'
import { againOf, payRoute, languageRoute } from './payRoute.tsx'
import { Qr, qrPng } from './qrCode.tsx'
import { ChoosePage } from './stages/choose.tsx'
import { CancelledPage, CancelPage, DisputedPage, FailedPage, StoppedPage } from './stages/ended.tsx'
import { freshForm } from './stages/form.ts'
import { giveUpRoute } from './stages/giveUp.tsx'
import { PaidPage, ReceiptPage } from './stages/paid.tsx'
import { StepPage, stepRoute } from './stages/step.tsx'
import { framedPhoneOf } from './stages/testPhone.tsx'
import { type Arrival, WaitPage } from './stages/wait.tsx'
import { attemptOf, linkTo, secondsLeft, versionOf, type View } from './view.ts'

const cancellableStages = ['choose', 'wait', 'step', 'failed']

// The payment's page, to which the merchant sends the customer, and the routes under it.
export function checkoutRoutes(options: CheckoutOptions) {
  const app = new Hono<Env>()
  app.use(bugPage)
  app.onError(errorPage)
  const redirect = redirectBrowser(options)
  const open = withPayment(options, openOrReturn(options))
  app.get('/:token', c => (isRelayingServer(c) ? redirect(c) : open(c)))
  app.get('/:token/state', withPayment(options, sendPageState))
  app.get('/:token/qr.svg', withCheckoutToken(options, drawQr(options)))
  app.get('/:token/receipt', withPayment(options, showReceipt))
  app.get('/:token/code.png', withPayment(options, saveCode))
  const forms = {
    pay: payRoute(options),
    step: stepRoute(options),
    words: languageRoute,
    'give-up': giveUpRoute(options),
    cancel: cancelRoute(options),
  }
  for (const [path, route] of Object.entries(forms)) {
    app.post(`/:token/${path}`, withPayment(options, withOwnForm(options, route)))
    // A form that is shown again has the address of its POST. A reload of it redirects to the payment's page.
    app.get(`/:token/${path}`, withPayment(options, path === 'cancel' ? confirmCancel : redirectToPayment))
  }
  return app
}

const cancelRoute =
  ({ runtime }: CheckoutOptions): FormRoute =>
  async (c, view, _, deadline) => {
    requireOriginal(runtime, view.checkout.mode)
    await cancel(runtime, view.checkout, runtime.clock(), deadline)
    wakeDispatchers(runtime)
    return redirectToPayment(c, view)
  }

// `?back`: the customer returns from the provider's page. The provider is polled at once, within a short limit.
function openOrReturn(options: CheckoutOptions) {
  const { runtime } = options
  const pollOnReturn = createReturnPolls(runtime)
  return async (c: Ctx, view: View, deadline: number) => {
    if (c.req.query('back') === undefined) return showStage(c, await withEnding(options, view, deadline))
    const attempt = attemptOf(view)
    if (view.checkout.stage === 'wait' && attempt?.redirect_url)
      await withShortDeadline(pollOnReturn(attempt, deadline))
    return redirectToPayment(c, attempt ? { ...view, visit: returnVisit(attempt) } : view)
  }
}

// The visit that saw the payment end redirects to the shop. Every visit shows where the receipt is sent.
async function withEnding(options: CheckoutOptions, view: View, deadline: number): Promise<View> {
  const { checkout, visit, now } = view
  const { canSend, runtime } = options
  const db = runtime.db.withDeadline(deadline)
  const mayRedirect = !view.framed && redirectExit(checkout)?.trusted
  const leaves = mayRedirect ? await redirectOnce(db, checkout, visit, now) : undefined
  const showsRecipient = checkout.stage === 'paid' && canSend
  return {
    ...view,
    redirects: leaves,
    receiptTo: showsRecipient ? await receiptTo(db, checkout, canSend) : undefined,
    willText: willText(checkout, canSend),
  }
}

// In test mode the SMS is in the inbox.
const willText = ({ number, mode }: View['checkout'], canSend: CheckoutOptions['canSend']) =>
  number !== null && (mode === 'test' || canSend?.('sms', number) === true)

const showStage = (c: Ctx, view: View) => {
  const arrival = {
    unfinished: c.req.query('unfinished') !== undefined,
    forward: c.req.query('forward') !== undefined && !view.framed,
    isReload: c.req.query('reload') !== undefined,
  }
  const page = stagePage(onVisit(view), againOf(c), arrival)
  const http = view.checkout.stage === 'expired' ? 410 : 200
  return sendPage(c, page, http, showsTestPhone(view) ? framePolicy(c) : {})
}

// Only this page has a frame, of the simulated provider's page.
const showsTestPhone = (view: View) =>
  view.checkout.stage === 'wait' && framedPhoneOf(view, attemptOf(view)) !== undefined

// The script polls this route, so the answer is small.
function sendPageState(c: Ctx, view: View) {
  const { stage } = view.checkout
  const state = {
    stage,
    words: view.t.announcements[stage],
    seconds: secondsLeft(view),
    version: versionOf(view),
  }
  return plainResponse(c, 200, JSON.stringify(state), headersOf(c), { 'content-type': jsonType })
}

// Encodes the address of this page, so it needs no query.
const drawQr = (options: CheckoutOptions) => (c: Ctx, token: string) => {
  const picture = (<Qr text={publicAddress(options, c, token)} title="" />).toString()
  return plainResponse(c, 200, picture, headersOf(c), { 'content-type': 'image/svg+xml' })
}

// The QR code of the current attempt, as a picture that a phone can save in its gallery.
function saveCode(c: Ctx, view: View) {
  const picture = qrPng(attemptOf(view)?.qr ?? '')
  if (view.checkout.stage !== 'wait' || !picture) return redirectToPayment(c, view)
  return c.body(picture, 200, { ...headersOf(c), 'content-type': 'image/png' })
}

const showReceipt = (c: Ctx, view: View) =>
  view.checkout.stage === 'paid' ? sendPage(c, <ReceiptPage view={view} />) : redirectToPayment(c, view)

const confirmCancel = (c: Ctx, view: View) =>
  cancellableStages.includes(view.checkout.stage)
    ? sendPage(c, <CancelPage view={onVisit(view)} />)
    : redirectToPayment(c, view)

const redirectToPayment = (c: Ctx, view: View) => redirectTo(c, linkTo(view))

// Every browser sends Accept. A client without it is a program, such as the server of an old shop that fetches this
// page and shows it under an address of the shop. The links of the page would not work there, so the program gets a
// page that redirects the browser here.
const isRelayingServer = (c: Ctx) => !c.req.header('accept')

const redirectBrowser = (options: CheckoutOptions) =>
  withCheckoutToken(options, (c, token) => {
    const lang = chosenLang(c.req.query('lang')) ?? 'en'
    return sendPage(c, <BrowserRedirectPage address={publicAddress(options, c, token)} lang={lang} />)
  })

function publicAddress({ runtime }: CheckoutOptions, c: Ctx, token: string): string {
  const lang = chosenLang(c.req.query('lang'))
  return `${runtime.baseUrl()}/checkout/${token}${lang ? `?lang=${lang}` : ''}`
}

const BrowserRedirectPage = ({ address, lang }: { address: string; lang: Lang }) => {
  const { trouble, dir } = languages[lang]
  const refresh = <meta http-equiv="refresh" content={`0; url=${address}`} />
  return (
    <PageFrame lang={lang} dir={dir} title={trouble.open} styles={[]} head={refresh}>
      <p>
        {/* A link in a frame opens in the whole window. */}
        <a href={address} target="_top">
          {trouble.open}
        </a>
      </p>
    </PageFrame>
  )
}

// The page for the current stage. `again`: what the customer chose after a failed attempt.
export function stagePage(view: View, again?: string, arrival: Arrival = {}) {
  const attempt = attemptOf(view)
  const { stage } = view.checkout
  if (stage === 'choose' || (stage === 'failed' && again)) return choosePage(view, again)
  if (stage === 'step' && attempt?.step) return <StepPage view={view} attempt={attempt} step={attempt.step} />
  if ((stage === 'wait' || stage === 'step') && attempt)
    return <WaitPage view={view} attempt={attempt} arrival={arrival} />
  if (stage === 'failed' || stage === 'over') return <FailedPage view={view} attempt={attempt} />
  if (stage === 'paid') return <PaidPage view={view} />
  if (stage === 'cancelled') return <CancelledPage view={view} />
  if (stage === 'disputed') return <DisputedPage view={view} />
  return <StoppedPage view={view} texts={stage === 'expired' ? view.t.expired : view.t.closed} />
}

const choosePage = (view: View, again: string | undefined) =>
  view.checkout.methods.length === 0 ? (
    <StoppedPage view={view} texts={view.t.no_methods} />
  ) : (
    <ChoosePage view={view} form={freshForm(view, again ?? choiceOnGiveUp(view))} again={again} />
  )

// What the customer chose when giving up the last attempt.
function choiceOnGiveUp(view: View): string | undefined {
  const choice = attemptOf(view)?.gave_up_for
  return choice === 'method' ? 'other' : (choice ?? undefined)
}
