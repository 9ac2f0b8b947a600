import { Hono } from 'hono'
import { createReturns } from '../../actions/channels/askOnReturn.ts'
import { receiptTo } from '../../actions/messages/receiptTo.ts'
import { wakeSenders } from '../../actions/notifications/wakeSenders.ts'
import { cancel } from '../../actions/payments/cancel.ts'
import { leaveOnce } from '../../actions/payments/leaveOnce.ts'
import { chosenLang } from '../../core/languages/languages.ts'
import { forAMoment } from '../../runtime/inTime.ts'
import { jsonType } from '../http/apiRequest.ts'
import { type Ctx, type Env, plainly } from '../http/context.ts'
import { pngOf } from './code/png.ts'
import { Qr } from './code/qr.tsx'
import { giveUpRoute } from './giveUpRoute.ts'
import {
  brokenPage,
  type CheckoutOptions,
  fromHere,
  goTo,
  troublePage,
  withPayment,
  withToken,
} from './open.tsx'
import { exitByItself } from './page/exit.ts'
import { attemptOf, linkTo, secondsLeft, type View, versionOf } from './page/view.ts'
import { payRoute } from './payRoute.tsx'
import { isRelay, relayRoute } from './relay.tsx'
import { headersOf, show } from './show.ts'
import { CancelPage } from './stages/cancel.tsx'
import { ReceiptPage } from './stages/receipt.tsx'
import { stagePage } from './stages/stagePage.tsx'
import { stepRoute } from './stepRoute.tsx'
import { onVisit, visitFrom } from './visit.ts'
import { againOf, wordsRoute } from './wordsRoute.tsx'

const mayCancel = ['choose', 'wait', 'step', 'failed']

// The address that a merchant sends its customer to, and what is under it.
export function checkoutRoutes(options: CheckoutOptions) {
  const { runtime } = options
  const app = new Hono<Env>()
  app.use(brokenPage)
  app.onError(troublePage)
  const [relay, open] = [relayRoute(options), withPayment(options, comeBack(options))]
  app.get('/:token', c => (isRelay(c) ? relay(c) : open(c)))
  app.get('/:token/state', withPayment(options, tellState))
  app.get('/:token/qr.svg', withToken(options, drawQr(runtime)))
  app.get('/:token/receipt', withPayment(options, showReceipt))
  app.get('/:token/cancel', withPayment(options, askToCancel))
  app.get('/:token/code.png', withPayment(options, saveCode))
  // Reloaded by somebody whose form came back.
  for (const path of ['pay', 'step', 'words', 'give-up'])
    app.get(`/:token/${path}`, withPayment(options, goHome))
  app.post('/:token/pay', withPayment(options, fromHere(options, payRoute(options))))
  app.post('/:token/step', withPayment(options, fromHere(options, stepRoute(options))))
  app.post('/:token/words', withPayment(options, fromHere(options, wordsRoute)))
  app.post('/:token/give-up', withPayment(options, fromHere(options, giveUpRoute(options))))
  app.post(
    '/:token/cancel',
    withPayment(
      options,
      fromHere(options, async (c, view, _, deadline) => {
        await cancel(runtime.db, view.checkout, runtime.clock(), deadline)
        wakeSenders(runtime)
        return goHome(c, view)
      }),
    ),
  )
  return app
}

// From a provider's page.
function comeBack(options: CheckoutOptions) {
  const { runtime } = options
  const askOnReturn = createReturns(runtime)
  return async (c: Ctx, view: View, deadline: number) => {
    if (c.req.query('back') === undefined) return showStage(c, await withEnd(options, view, deadline))
    const attempt = attemptOf(view)
    if (view.checkout.stage === 'wait' && attempt?.redirect_url)
      await forAMoment(askOnReturn(attempt, deadline))
    return goHome(c, attempt ? { ...view, visit: visitFrom(attempt) } : view)
  }
}

// The visit that saw the payment end goes on to the shop by itself; every visit is told where the receipt goes.
async function withEnd(options: CheckoutOptions, view: View, deadline: number): Promise<View> {
  const { checkout, visit, now } = view
  const { carries, runtime } = options
  const db = runtime.db.until(deadline)
  const mayLeave = !view.framed && exitByItself(checkout)?.known
  const leaves = mayLeave ? await leaveOnce(db, checkout, visit, now) : undefined
  const isTold = checkout.stage === 'paid' && carries
  return { ...view, leaves, receiptTo: isTold ? await receiptTo(db, checkout, carries) : undefined }
}

const showStage = (c: Ctx, view: View) => {
  const unfinished = c.req.query('unfinished') !== undefined
  const page = stagePage(onVisit(view), againOf(c), unfinished)
  return show(c, page, view.checkout.stage === 'expired' ? 410 : 200)
}

// For the script, which asks again and again: as little as possible.
function tellState(c: Ctx, view: View) {
  const { stage } = view.checkout
  const told = { stage, words: view.t.news[stage], seconds: secondsLeft(view), version: versionOf(view) }
  return plainly(c, 200, JSON.stringify(told), headersOf(c), { 'content-type': jsonType })
}

// Of the address that was called, so that nothing has to be looked up.
const drawQr = (runtime: CheckoutOptions['runtime']) => (c: Ctx, token: string) => {
  const asked = chosenLang(c.req.query('lang'))
  const address = `${runtime.baseUrl()}/checkout/${token}${asked ? `?lang=${asked}` : ''}`
  const picture = (<Qr text={address} title="" />).toString()
  return plainly(c, 200, picture, headersOf(c), { 'content-type': 'image/svg+xml' })
}

// The code of an attempt that waits to be scanned, as a picture that a phone's gallery can keep.
function saveCode(c: Ctx, view: View) {
  const picture = pngOf(attemptOf(view)?.qr ?? '')
  if (view.checkout.stage !== 'wait' || !picture) return goHome(c, view)
  return c.body(picture, 200, { ...headersOf(c), 'content-type': 'image/png' })
}

const showReceipt = (c: Ctx, view: View) =>
  view.checkout.stage === 'paid' ? show(c, <ReceiptPage view={view} />) : goHome(c, view)

const askToCancel = (c: Ctx, view: View) =>
  mayCancel.includes(view.checkout.stage) ? show(c, <CancelPage view={onVisit(view)} />) : goHome(c, view)

const goHome = (c: Ctx, view: View) => goTo(c, linkTo(view))
