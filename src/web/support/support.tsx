import { Hono } from 'hono'
import { auditedDb } from '../../actions/access/audit.ts'
import { requireSending } from '../../actions/installation/requireOriginal.ts'
import { nameMerchants } from '../../actions/merchants/setMerchant.ts'
import { customerMessagesOf, type ResendResult, sendReceiptAgain } from '../../actions/messages/receipts.ts'
import { sentNotificationsOf } from '../../actions/notifications/findNotifications.ts'
import { redeliverAsSeen, type Redelivered } from '../../actions/notifications/redeliver.ts'
import { explainPayment } from '../../actions/payments/explainPayment.ts'
import { newestOfAll, searchByText } from '../../actions/payments/searchPayments.ts'
import { findRequest } from '../../actions/requests/findRequests.ts'
import { type Actor, tokenActor } from '../../core/access/audit.ts'
import { receiptEntry, redeliverEntry } from '../../core/access/auditEntries.ts'
import { formTokenField, formTokenOf, isFormToken } from '../../core/formOrigin.ts'
import { NotOriginal, TooBusy } from '../../core/interface/refusal.ts'
import { pageHeaders } from '../../core/markup/page.tsx'
import type { MessageRules } from '../../core/message/messageRules.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { isPlainText } from '../../core/text.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { readStyles } from '../documents/documents.ts'
import { addressOf } from '../http/apiRequest.ts'
import { readFields } from '../http/body.ts'
import type { Ctx, Env } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import { isOperatorProgram, type OperatorAuth, senderOf } from '../http/operatorAuth.ts'
import {
  CopyPage,
  ForeignFormPage,
  NoSuchPaymentPage,
  SupportBusyPage,
  SupportUnavailablePage,
} from './pages.tsx'
import { type Notice, SupportPaymentPage } from './paymentPage.tsx'
import { SearchPage, SearchResultsPage } from './searchPages.tsx'
import { NoSuchRequestPage, RefusedRequestPage } from './searchRequest.tsx'
import { type EnterFirstVisit, enterRoute, guard } from './signIn.tsx'

const css = readStyles(new URL('./support.css', import.meta.url))

type SupportRuntime = Pick<
  Runtime,
  'db' | 'clock' | 'installation' | 'wake' | 'limits' | 'bodies' | 'formKey' | 'baseUrl'
> & {
  rules: MessageRules
}

type SupportOptions = { runtime: SupportRuntime; auth: OperatorAuth; enterFirstVisit?: EnterFirstVisit }

// The pages for support staff. They find a payment by its reference, show its timeline, and can send the receipt and the
// notifications again. The routes are mounted at /support.
export function supportRoutes({ runtime, auth, enterFirstVisit }: SupportOptions) {
  const routes = new Hono<Env>({ strict: false })
  // Before the guard, because the sign-in page needs it.
  routes.get('/support.css', c =>
    c.body(css, 200, { ...pageHeaders(), 'content-type': 'text/css; charset=utf-8' }),
  )
  routes.get('/enter', enterRoute(runtime, auth, enterFirstVisit))
  routes.use(guard(pageHeaders(), auth))
  routes.get('/', c => lookUp(runtime, c))
  routes.post('/receipt', formRoute(runtime, auth, sendReceipt))
  routes.post('/redeliver', formRoute(runtime, auth, redeliver))
  return routes
}

// The notice that the page shows after an action.
const doneTexts = new Map([
  ['receipt', 'The receipt is on its way again.'],
  ['redelivered', 'The notification is sent again now. Reload this page to see what comes of it.'],
  ['already', 'That was done a moment ago. It was not done twice.'],
])

async function lookUp(runtime: SupportRuntime, c: Ctx) {
  const query = c.req.query('q')?.trim() ?? ''
  const text = doneTexts.get(c.req.query('done') ?? '')
  const merchant = c.req.query('merchant') || undefined
  try {
    if (query === '')
      return c.html(<SearchPage latest={await nameMerchants(runtime.db, await newestOfAll(runtime.db))} />)
    if (query.startsWith('req_')) return await showRequest(runtime, c, query)
    return await showPayment(runtime, c, query, merchant, text ? { text } : undefined)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return c.html(<SupportUnavailablePage query={query} />, 503, { 'retry-after': '5' })
  }
}

// The parts that the form token of a payment's page is computed from.
const tokenParts = (merchant_id: string, tx_reference: string) => ['support', merchant_id, tx_reference]

async function showRequest({ db }: SupportRuntime, c: Ctx, query: string) {
  const request = await findRequest(db, query)
  return request
    ? c.html(<RefusedRequestPage query={query} request={request} />)
    : c.html(<NoSuchRequestPage query={query} />, 404)
}

// Shows the payment that this text means. If there are several, it lists them.
async function showPayment(
  { db, clock, formKey }: SupportRuntime,
  c: Ctx,
  query: string,
  merchant_id: string | undefined,
  notice?: Notice & { http?: 409 },
) {
  const now = clock()
  const { payments, more } = await searchByText(db, query, merchant_id, now)
  const [payment] = payments
  if (!payment) return c.html(<NoSuchPaymentPage query={query} />, 404)
  if (payments.length > 1) {
    const named = await nameMerchants(db, payments)
    return c.html(<SearchResultsPage query={query} payments={named} more={more} />)
  }
  const [explained, notifications, messages] = await Promise.all([
    explainPayment(db, payment, now),
    sentNotificationsOf(db, payment),
    customerMessagesOf(db, payment),
  ])
  const page = (
    <SupportPaymentPage
      query={query}
      explained={explained}
      notifications={notifications}
      messages={messages}
      now={now}
      formToken={formTokenOf(formKey, tokenParts(payment.merchant_id, payment.tx_reference))}
      notice={notice}
    />
  )
  return c.html(page, notice?.http ?? 200)
}

type SubmittedForm = { merchant: string; reference: string; field(name: string): string; actor: Actor }
// 'already': a repeated submission, which changes nothing. Undefined: no such payment.
type Outcome = 'receipt' | 'redelivered' | 'already' | { refused: string } | undefined

// The route of a form. After the action it redirects, so that a reload of the page does not repeat the action.
const formRoute =
  (
    runtime: SupportRuntime,
    auth: Pick<OperatorAuth, 'trustedProxies'>,
    act: (runtime: SupportRuntime, form: SubmittedForm) => Promise<Outcome>,
  ) =>
  async (c: Ctx) => {
    const sender = senderOf(c, runtime.baseUrl())
    if (sender === 'other_site') return c.html(<ForeignFormPage />, 403)
    try {
      const form = await readForm(c, runtime, auth.trustedProxies)
      const { merchant, reference } = form
      if (sender === 'unproven' && !isOperatorProgram(c) && !hasToken(runtime, form))
        return c.html(<ForeignFormPage />, 403)
      const outcome = await act(runtime, form)
      if (outcome === undefined) return c.html(<NoSuchPaymentPage query={reference} />, 404)
      if (typeof outcome === 'object')
        return await showPayment(runtime, c, reference, merchant, { text: outcome.refused, http: 409 })
      runtime.wake('senders')
      const query = new URLSearchParams({ q: reference, merchant, done: outcome }).toString()
      return c.body(null, 303, { location: `/support?${query}` })
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (error.isBodyUnread) c.header('connection', 'close')
      if (error.http === 429 || error instanceof TooBusy)
        return c.html(<SupportBusyPage />, error.http as 429, { 'retry-after': '5' })
      if (error.http !== 503) return c.html(<ForeignFormPage />, error.http as 400)
      if (error instanceof NotOriginal) return c.html(<CopyPage />, 503, { 'retry-after': '60' })
      return c.html(<SupportUnavailablePage />, 503, { 'retry-after': '5' })
    }
  }

const hasToken = ({ formKey }: SupportRuntime, { merchant, reference, field }: SubmittedForm) =>
  isFormToken(formTokenOf(formKey, tokenParts(merchant, reference)), field(formTokenField))

async function readForm(c: Ctx, runtime: SupportRuntime, trustedProxies: number): Promise<SubmittedForm> {
  const { incoming } = c.env
  const address = addressOf(incoming, trustedProxies)
  const { fields } = await readFields(incoming, { runtime, address })
  const field = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' && isPlainText(value) ? value : ''
  }
  return { merchant: field('merchant'), reference: field('reference'), field, actor: tokenActor(address) }
}

async function sendReceipt(
  { db, clock, installation, rules }: SupportRuntime,
  { merchant, reference, field, actor }: SubmittedForm,
): Promise<Outcome> {
  const key = { merchant_id: merchant, tx_reference: reference }
  const medium = field('medium') === 'email' ? 'email' : 'sms'
  const number = Number(/^\d{1,2}$/.exec(field('number'))?.[0] ?? 0)
  const now = clock()
  const recorded = auditedDb(db, actor, now, ({ done }: ResendResult) =>
    done === 'queued' ? receiptEntry(key, medium) : undefined,
  )
  requireSending({ installation })
  const outcome = await sendReceiptAgain(recorded, key, { medium, number }, rules, now)
  if (outcome.done === 'refused') return { refused: `The receipt was not sent again. ${outcome.reason}` }
  if (outcome.done === 'no_payment') return undefined
  return outcome.done === 'already' ? 'already' : 'receipt'
}

async function redeliver(
  { db, clock, installation }: SupportRuntime,
  { merchant, reference, field, actor }: SubmittedForm,
): Promise<Outcome> {
  const sequence = Number(/^\d{1,6}$/.exec(field('sequence'))?.[0] ?? 0)
  const key = { merchant_id: merchant, tx_reference: reference, sequence }
  const seen = field('seen')
  const now = clock()
  const recorded = auditedDb(db, actor, now, (result: Redelivered | 'already') =>
    result !== 'already' && result.redelivered > 0 ? redeliverEntry(key, notificationId(key)) : undefined,
  )
  requireSending({ installation })
  const outcome = await redeliverAsSeen(recorded, key, seen === '' ? null : new Date(seen), now)
  if (outcome === undefined || outcome === 'already') return outcome
  return outcome.redelivered > 0 ? 'redelivered' : { refused: `It was not sent again. ${whyNot(outcome)}` }
}

function whyNot({ being_sent, no_address }: Redelivered): string {
  if (being_sent > 0) return 'It is being sent at this moment: see what comes of it first.'
  if (no_address > 0) return 'The shop has no address to send it to: its ipn_url is not set.'
  return "The shop's ipn_style is basic, which leaves out awaiting_payment."
}
