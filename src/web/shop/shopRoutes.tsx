import { Hono } from 'hono'
import { findDemoPayment, refundsOfOrder } from '../../actions/merchants/demoShop.ts'
import { demoId } from '../../actions/merchants/onboard.ts'
import { customerMessagesOf } from '../../actions/messages/receipts.ts'
import { sentNotificationsOf } from '../../actions/notifications/findNotifications.ts'
import { explainPayment } from '../../actions/payments/explainPayment.ts'
import { formTokenField, formTokenOf, isFormToken } from '../../core/formOrigin.ts'
import { raw } from '../../core/markup/jsx-runtime.ts'
import type { SitePlace } from '../../core/markup/page.tsx'
import { requestEndsAt } from '../../core/payment/attempt.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { errorPage } from '../checkout/open.tsx'
import { merchantBase } from '../dashboard/route.ts'
import { addressOf } from '../http/apiRequest.ts'
import { hasBody, readBody, readFields } from '../http/body.ts'
import { type Ctx, type Env, plainResponse } from '../http/context.ts'
import { senderOf } from '../http/operatorAuth.ts'
import { customerPageHeaders, sendPage } from '../pages/sendPage.ts'
import { TroublePage } from '../pages/customerPage.tsx'
import type { DemoShop, OpenShop } from './demoShop.ts'
import { Panel, panelId, panelUrl } from './panel.tsx'
import { shopFiles } from './shopAssets.ts'
import { CodePage, ShopPage, OrderNotice } from './shopPage.tsx'
import { type OrderRecords, stepsOf } from './steps.ts'
import {
  isOwn,
  newVisitor,
  rememberOrder,
  type Visitor,
  visitorDigest,
  visitorField,
  visitorOf,
} from './visitor.ts'

export type ShopOptions = {
  shop: DemoShop
  runtime: Runtime
  trustedProxies: number
  isForThisMachineOnly: boolean
  hasOwnDashboard?: boolean
}

// With the headers of a page: a redirect without the opener policy would cut the checkout's window from the shop.
const redirect = (c: Ctx, url: string) => c.body(null, 303, { ...customerPageHeaders, location: url })

// Reads the visitor's own order for the panel.
function createPanels({ shop, runtime, isForThisMachineOnly }: ShopOptions) {
  const baseUrl = runtime.baseUrl()
  const db = runtime.db.withQuota('shop') // the pages are public, so they have a separate connection quota

  // The visitor's own order; undefined if it is another visitor's, or if there is none.
  async function ownPayment(c: Ctx): Promise<Payment | undefined> {
    const visitor = visitorOf(c, baseUrl)
    const wanted = c.req.query('order') ?? visitor?.newest
    const payment = visitor && wanted ? await findDemoPayment(db, wanted) : undefined
    return payment && visitor && isOwn(payment, visitor) ? payment : undefined
  }

  async function panelOf(c: Ctx) {
    const now = runtime.clock()
    const payment = await ownPayment(c)
    const order = payment && { payment, steps: stepsOf(await recordsOf(payment, now)) }
    return { order, now, hasInbox: isForThisMachineOnly }
  }

  async function recordsOf(payment: Payment, now: Date): Promise<OrderRecords> {
    const [{ attempts, events }, notifications, messages, refunds] = await Promise.all([
      explainPayment(db, payment, now),
      sentNotificationsOf(db, payment),
      customerMessagesOf(db, payment),
      refundsOfOrder(db, payment),
    ])
    return {
      payment,
      attempts,
      events,
      notifications,
      messages,
      now,
      refunds,
      request: shop.requestOf(payment.invoice_id),
      refundRequest: shop.refundRequestOf(payment.invoice_id),
      receivedBy: shop.receivedBy,
      testerPage: attempt => runtime.providerAccounts.findFor(attempt)?.testerPage?.(attempt.attempt_id),
      endsAt(attempt) {
        const lifetimeMs = runtime.providerAccounts.findFor(attempt)?.terms(attempt.payment_method).lifetimeMs
        return lifetimeMs === undefined ? undefined : requestEndsAt(attempt, lifetimeMs)
      },
    }
  }

  return { ownPayment, panelOf }
}

// The fields of a form of the shop's own page; undefined if it comes from another site.
async function ownFields(c: Ctx, { runtime, trustedProxies }: ShopOptions, formToken: string) {
  const sender = senderOf(c, runtime.baseUrl())
  if (sender === 'other_site') return undefined
  const { incoming } = c.env
  const from = { runtime, address: addressOf(incoming, trustedProxies) }
  const fields = hasBody(incoming) ? (await readFields(incoming, from)).fields : {}
  return sender === 'unproven' && !isFormToken(formToken, fields[formTokenField]) ? undefined : fields
}

// What the script of the page replaces.
type PanelOf = Awaited<ReturnType<ReturnType<typeof createPanels>['panelOf']>>

const Steps = ({ formToken, ...panel }: PanelOf & { formToken: string }) => (
  <>
    {raw('<!doctype html>')}
    <title>What happens</title>
    <div id="verdict">
      {panel.order && <OrderNotice payment={panel.order.payment} formToken={formToken} />}
    </div>
    <Panel {...panel} />
  </>
)

type ShopFrameProps = { assets: ReturnType<typeof shopFiles>['assets']; places: readonly SitePlace[] }

function createHandlers(options: ShopOptions, frame: ShopFrameProps) {
  const { shop, runtime, trustedProxies, hasOwnDashboard } = options
  const baseUrl = runtime.baseUrl()
  const { ownPayment, panelOf } = createPanels(options)
  const formToken = formTokenOf(runtime.formKey, ['shop'])

  async function showShop(
    c: Ctx,
    { name }: OpenShop,
    more: { fault?: string; ending?: string } = {},
    http = 200,
  ) {
    const panel = await panelOf(c)
    return sendPage(
      c,
      <ShopPage {...frame} {...panel} {...more} shop={shop} name={name} formToken={formToken} />,
      http,
    )
  }

  async function buy(c: Ctx, opened: OpenShop) {
    const fields = await ownFields(c, options, formToken)
    if (!fields) return sendPage(c, <TroublePage kind="elsewhere" lang="en" />, 403)
    const article = shop.articles.find(({ id }) => id === fields.article)
    const ending = shop.endings.find(({ id }) => id === fields.ending)?.id
    if (!article) return showShop(c, opened, { ending, fault: 'Choose an article.' }, 422)
    const visitor: Visitor = visitorOf(c, baseUrl) ?? newVisitor()
    try {
      const extra = { [visitorField]: visitorDigest(visitor) }
      const { order, checkoutUrl } = await opened.buy(article, { ending, extra })
      rememberOrder(c, baseUrl, visitor, order.invoiceId)
      return redirect(c, new URL(checkoutUrl).pathname) // a visitor may have come by another name of this gateway
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error)
      return showShop(c, opened, { ending, fault }, 502)
    }
  }

  // The visitor's own order only: the shop refunds it through the public interface, once however often it is pressed.
  async function refund(c: Ctx, opened: OpenShop) {
    const fields = await ownFields(c, options, formToken)
    if (!fields) return sendPage(c, <TroublePage kind="elsewhere" lang="en" />, 403)
    const payment = await ownPayment(c)
    if (!payment) return redirect(c, '/')
    try {
      await opened.refund(payment.invoice_id)
      return redirect(c, panelUrl(payment, runtime.clock()))
    } catch (error) {
      return showShop(c, opened, { fault: error instanceof Error ? error.message : String(error) }, 502)
    }
  }

  // The return page of the shop. The address is no proof, so the shop asks the gateway for the status.
  async function comeBack(c: Ctx, opened: OpenShop) {
    const invoice_id = c.req.query('order') ?? ''
    const payment = await ownPayment(c)
    if (payment) await opened.orderAfterReturn(invoice_id).catch(() => undefined) // the panel shows what is known
    return redirect(c, payment ? `/?order=${encodeURIComponent(invoice_id)}#${panelId}` : '/')
  }

  // The visitor's newest order on the dashboard of the demo shop, or all of them. The dashboard asks who the visitor is.
  async function showAsMerchant(c: Ctx) {
    const payment = await ownPayment(c)
    const place = payment ? `/payments/${payment.tx_reference}` : '/payments'
    const origin = hasOwnDashboard ? runtime.dashboardUrl() : ''
    return redirect(c, `${origin}${merchantBase(demoId, 'test')}${place}`)
  }

  async function receive(c: Ctx, opened: OpenShop) {
    const { incoming } = c.env
    const body = await readBody(incoming, { runtime, address: addressOf(incoming, trustedProxies) })
    return opened.receive(body, incoming.headers)
  }

  async function sendSteps(c: Ctx) {
    const html = String(<Steps {...(await panelOf(c))} formToken={formToken} />)
    return plainResponse(c, 200, html, customerPageHeaders, { 'content-type': 'text/html; charset=UTF-8' })
  }

  return { showShop, buy, refund, comeBack, showAsMerchant, receive, sendSteps }
}

// The demo shop: its page at /, and what belongs to it below /shop. Nothing here can change a payment; the shop requests
// and refunds it through the public interface, as the demo merchant.
export function createShopPages(options: ShopOptions) {
  const { shop, runtime, trustedProxies, isForThisMachineOnly } = options
  const { assets, routes: files } = shopFiles(shop)
  const own: readonly SitePlace[] = isForThisMachineOnly ? ['inbox', 'support'] : []
  const frame: ShopFrameProps = { assets, places: ['shop', 'phone', ...own, 'docs'] }
  const { showShop, buy, refund, comeBack, showAsMerchant, receive, sendSteps } = createHandlers(
    options,
    frame,
  )

  // Every route is limited like the pages of the sandbox, and exists only while the shop is open.
  const whenOpen = (answer: (c: Ctx, opened: OpenShop) => Promise<Response>) => async (c: Ctx) => {
    runtime.limits.visitSandbox(addressOf(c.env.incoming, trustedProxies))
    const opened = await shop.open()
    return opened ? answer(c, opened) : sendPage(c, <TroublePage kind="nothing_here" lang="en" />, 404)
  }

  const routes = new Hono<Env>()
  routes.onError(errorPage)
  routes.route('/', files)
  routes.post('/buy', whenOpen(buy))
  routes.post('/refund', whenOpen(refund))
  routes.get('/return', whenOpen(comeBack))
  if (isForThisMachineOnly) routes.get('/merchant', whenOpen(showAsMerchant))
  routes.post('/ipn', whenOpen(receive))
  routes.get('/steps', whenOpen(sendSteps))
  routes.get(
    '/code',
    whenOpen(async c => sendPage(c, <CodePage {...frame} code={shop.code} baseUrl={runtime.baseUrl()} />)),
  )

  // The page at the gateway's first address; undefined if there is no active demo merchant.
  async function home(c: Ctx): Promise<Response | undefined> {
    const opened = await shop.open()
    return opened && showShop(c, opened)
  }

  return { routes, home }
}
