import { paymentsCsv, recordExport } from '../../../actions/dashboard/exportPayments.ts'
import { outletNames, paymentPage } from '../../../actions/payments/merchantPayments.ts'
import { paymentDetails } from '../../../actions/dashboard/paymentDetails.ts'
import { parseReference } from '../../../core/payment/reference.ts'
import { type PagePlace, readListFilter } from '../../../core/payment/listFilter.ts'
import { localTime } from '../../../core/zone.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { PaymentsPage } from './listPage.tsx'
import {
  type ActionOutcome,
  cancelForm,
  recordLook,
  redeliverForm,
  sendReceiptForm,
} from './paymentActions.ts'
import { MessagesPage, readMessages } from './messagesPage.tsx'
import { PaymentPage } from './paymentPage.tsx'
import type { PaymentNotice } from './paymentParts.tsx'
import { type DoneWord, paymentTexts } from './paymentTexts.ts'
import { refundRoutes } from './refundRoutes.tsx'

const pageSize = 25

// Offered as filters, although a merchant may have others; these can be chosen by the address of the page.
const offeredMethods = ['mtn_mobile_money', 'telecel_cash', 'airteltigo_money', 'card', 'ghqr']

const one = '/payments/:reference'

export const paymentsRoutes = (deps: AreaDeps): MerchantRoute[] => [
  {
    method: 'get',
    path: '/payments',
    permission: 'payments.view',
    handle: (c, visit) => showList(deps, c, visit),
  },
  {
    method: 'get',
    path: '/payments.csv',
    permission: 'payments.export',
    handle: (c, visit) => exportCsv(deps, c, visit),
  },
  {
    method: 'get',
    path: one,
    permission: 'payments.view',
    handle: (c, visit) => showPayment(deps, c, visit, { notice: noticeOf(c, visit) }),
  },
  {
    method: 'post',
    path: `${one}/reveal`,
    permission: 'payments.reveal',
    handle: (c, visit) => reveal(deps, c, visit),
  },
  {
    method: 'get',
    path: `${one}/messages`,
    permission: 'payments.receipt',
    handle: (c, visit) => showMessages(deps, c, visit),
  },
  ...refundRoutes(deps),
  actionRoute(deps, 'receipt', 'payments.receipt', sendReceiptForm),
  actionRoute(deps, 'redeliver', 'payments.redeliver', redeliverForm),
  actionRoute(deps, 'cancel', 'payments.cancel', cancelForm),
]

type Act = (deps: AreaDeps, visit: MerchantVisit, tx_reference: string) => Promise<ActionOutcome>

// The form of an action. It redirects, so that a reload of the page does not repeat the action.
const actionRoute = (
  deps: AreaDeps,
  name: string,
  permission: MerchantRoute['permission'],
  act: Act,
): MerchantRoute => ({
  method: 'post',
  path: `${one}/${name}`,
  permission,
  handle: async (c, visit) => {
    const tx_reference = referenceIn(c)
    const details = tx_reference && (await detailsOf(visit, tx_reference))
    if (!tx_reference || !details) return problemPage(c, visit.lang, 'notFound')
    const outcome = await act(deps, visit, tx_reference)
    if ('refused' in outcome)
      return showPayment(deps, c, visit, { notice: { text: outcome.refused, isRefused: true } })
    return c.redirect(`${visit.base}/payments/${tx_reference}?done=${outcome.done}`, 303)
  },
})

const referenceIn = (c: Ctx) => parseReference(c.req.param('reference') ?? '')

const detailsOf = ({ db, merchant, mode, now, lang }: MerchantVisit, tx_reference: string) =>
  paymentDetails(db, { merchant_id: merchant.merchant_id, mode, tx_reference }, now, lang)

function noticeOf(c: Ctx, { lang }: MerchantVisit): PaymentNotice | undefined {
  const texts = paymentTexts[lang].done
  const word = (Object.keys(texts) as DoneWord[]).find(name => name === c.req.query('done'))
  return word && { text: texts[word] }
}

async function showPayment(
  { runtime }: AreaDeps,
  c: Ctx,
  visit: MerchantVisit,
  shown: { notice?: PaymentNotice; isRevealed?: boolean },
) {
  const tx_reference = referenceIn(c)
  const [details, outlets] = await Promise.all([
    tx_reference === undefined ? undefined : detailsOf(visit, tx_reference),
    outletNames(visit.db, visit.merchant.merchant_id),
  ])
  if (!details) return problemPage(c, visit.lang, 'notFound')
  const { outlet } = details.explained.payment
  const page = (
    <PaymentPage
      visit={visit}
      details={details}
      outletName={outlet && (outlets.get(outlet) ?? outlet)}
      timeZone={runtime.timeZone}
      baseUrl={runtime.baseUrl()}
      {...shown}
    />
  )
  return sendDashboardPage(c, page, shown.notice?.isRefused ? 409 : 200)
}

// The words contain the link to the payment's page, as the receipt does.
async function showMessages({ runtime: { baseUrl, timeZone } }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const tx_reference = referenceIn(c)
  const details = tx_reference && (await detailsOf(visit, tx_reference))
  if (!details) return problemPage(c, visit.lang, 'notFound')
  const messages = await readMessages(visit, details, baseUrl)
  return sendDashboardPage(
    c,
    <MessagesPage visit={visit} details={details} timeZone={timeZone} messages={messages} />,
  )
}

// The full number is only in the answer to this form, and only after the look was recorded.
async function reveal(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const tx_reference = referenceIn(c)
  const details = tx_reference && (await detailsOf(visit, tx_reference))
  if (!tx_reference || !details) return problemPage(c, visit.lang, 'notFound')
  await recordLook(visit, tx_reference)
  return showPayment(deps, c, visit, { isRevealed: true })
}

async function showList({ runtime: { timeZone } }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { db, mode, now } = visit
  const { merchant_id } = visit.merchant
  const filter = readListFilter(name => c.req.queries(name) ?? [])
  const place = placeOf(c)
  const [page, outlets] = await Promise.all([
    paymentPage(db, { merchant_id, mode, filter, timeZone, now }, place, pageSize),
    outletNames(db, merchant_id),
  ])
  const choices = { outlets, timeZone, methods: offeredMethods }
  return sendDashboardPage(
    c,
    <PaymentsPage visit={visit} filter={filter} choices={choices} page={page} going={place.going} />,
  )
}

// Streams the filtered list. A reader that is slow is waited for, and one that leaves ends it.
async function exportCsv({ runtime, isOverloaded }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { mode, now, actor } = visit
  const { merchant_id } = visit.merchant
  const filter = readListFilter(name => c.req.queries(name) ?? [])
  const list = { merchant_id, mode, filter, timeZone: runtime.timeZone, now }
  const outlets = await outletNames(visit.db, merchant_id)
  const isMasked = !visit.may('payments.reveal')
  await recordExport(visit.db, list, isMasked, actor)
  const lines = paymentsCsv(runtime.db.withQuota('dashboard'), list, { isMasked, outlets, isOverloaded })
  const day = localTime(now, runtime.timeZone).day
  return c.body(streamOf(lines), 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="payments-${merchant_id}-${mode}-${day}.csv"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
}

// Reads the next part when the connection has room for it.
const streamOf = (parts: AsyncGenerator<string>) =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(Buffer.from(value))
      },
      async cancel() {
        await parts.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )

function placeOf(c: Ctx): PagePlace {
  const before = parseReference(c.req.query('before') ?? '')
  const after = before ? undefined : parseReference(c.req.query('after') ?? '')
  return after ? { going: 'newer', from: after } : { going: 'older', from: before }
}
