import {
  otherCharge,
  type PaymentDetails,
  paymentDetails,
} from '../../../actions/dashboard/paymentDetails.ts'
import { refundForUser } from '../../../actions/refunds/refundForUser.ts'
import { isConfirmed } from '../../../core/access/user.ts'
import { maxRefundReasonLength } from '../../../core/interface/refundRequest.ts'
import { formatMoney, parseMoney } from '../../../core/money.ts'
import { parseReference } from '../../../core/payment/reference.ts'
import { refundRules } from '../../../core/refund/approval.ts'
import type { RefundFault } from '../../../core/refund/refund.ts'
import { moneyText } from '../../../core/timeline/history.ts'
import { fill, isAtMost } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { actsAs } from './paymentActions.ts'
import { pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'
import { type RefundFormFault, RefundPage, type TypedRefund } from './refundPage.tsx'

const path = '/payments/:reference/refund'

export const refundRoutes = (deps: AreaDeps): MerchantRoute[] => [
  { method: 'get', path, permission: 'payments.refund', handle: showForm },
  { method: 'post', path, permission: 'payments.refund', handle: (c, visit) => refundByForm(deps, c, visit) },
]

async function detailsIn(c: Ctx, { db, merchant, mode, now, lang }: MerchantVisit) {
  const tx_reference = parseReference(c.req.param('reference') ?? '')
  if (!tx_reference) return undefined
  return paymentDetails(db, { merchant_id: merchant.merchant_id, mode, tx_reference }, now, lang)
}

const typedIn = (field: (name: string) => string): TypedRefund => ({
  part: field('part') === 'part' || (field('part') === '' && field('amount') !== '') ? 'part' : 'whole',
  amount: field('amount').trim(),
  reason: field('reason').trim(),
  attempt: /^\d{1,6}$/.exec(field('attempt'))?.[0] ?? '',
})

type ToRefund = { details: PaymentDetails; typed: TypedRefund }

// The charge that paid the payment or, from a task of the operator, another one. Merchants refund only what their customer
// owed.
async function readForm(
  c: Ctx,
  visit: MerchantVisit,
  field: (name: string) => string,
): Promise<ToRefund | undefined> {
  const [details, typed] = [await detailsIn(c, visit), typedIn(field)]
  if (!details || typed.attempt === '') return details && { details, typed }
  if (visit.role.at !== 'operator') return undefined
  const other = await otherCharge(visit.db, details.explained.payment, Number(typed.attempt))
  return other && { details: { ...details, left: other.left }, typed }
}

// What was typed before the password was asked for again comes in the address.
async function showForm(c: Ctx, visit: MerchantVisit) {
  const form = await readForm(c, visit, name => c.req.query(name) ?? '')
  if (!form) return problemPage(c, visit.lang, 'notFound')
  return sendDashboardPage(c, <RefundPage visit={visit} {...form} />)
}

const done = (c: Ctx, visit: MerchantVisit, details: PaymentDetails, word: string) =>
  c.redirect(`${pathOf(visit, details)}?done=${word}`, 303)

// A form whose refund exists already, in this tab or another one, changes nothing.
async function refundByForm({ runtime }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const form = await readForm(c, visit, visit.field)
  if (!form) return problemPage(c, visit.lang, 'notFound')
  const { details, typed } = form
  const number = Number(/^\d{1,6}$/.exec(visit.field('number'))?.[0] ?? 0)
  if (number > 0 && number < details.refundNumber) return done(c, visit, details, 'already')
  const refuse = (fault: RefundFormFault, http = 422) =>
    sendDashboardPage(c, <RefundPage visit={visit} details={details} typed={typed} fault={fault} />, http)
  const asked = readRefund(visit, details, typed)
  if ('fault' in asked) return refuse(asked.fault)
  const { payment, refunds } = details.explained
  const { signedIn, actor, now, mode } = visit
  const { needsConfirmation, needsApproval } = refundRules(details.limits, {
    amount: asked.amount,
    currency: payment.currency,
    earlier: refunds,
  })
  const { user, session } = signedIn
  if (needsConfirmation && !user.is_demo && !isConfirmed(session, now))
    return c.redirect(
      `/dashboard/confirm?next=${encodeURIComponent(formAddress(visit, details, typed))}`,
      303,
    )
  const { merchant_id, tx_reference } = payment
  const result = await refundForUser(
    { ...runtime, db: runtime.db.withQuota('dashboard') },
    {
      ...asked,
      merchant_id,
      tx_reference,
      mode,
      number: details.refundNumber,
      attempt_number: typed.attempt === '' ? undefined : Number(typed.attempt),
      needsApproval,
      requested_by: actsAs(visit),
      isTold: needsConfirmation,
    },
    { user_id: user.user_id, name: user.name, actor },
    now,
  )
  if ('fault' in result) return refuse({ of: 'amount', text: faultText(visit, details, result) }, 409)
  const words = { created: 'refunded', repeated: 'already', waiting: 'waiting' } as const
  return done(c, visit, details, words[result.done])
}

const formAddress = (visit: MerchantVisit, details: PaymentDetails, typed: TypedRefund) =>
  `${pathOf(visit, details)}/refund?${new URLSearchParams(typed).toString()}`

type AskedRefund = { amount: bigint; reason: string }

function readRefund(
  { lang }: MerchantVisit,
  { explained: { payment }, left }: PaymentDetails,
  { part, amount, reason }: TypedRefund,
): AskedRefund | { fault: RefundFormFault } {
  const texts = paymentTexts[lang].refundFaults
  if (!isAtMost(reason, maxRefundReasonLength)) return { fault: { of: 'reason', text: texts.reason } }
  const minor = part === 'whole' ? left : parseMoney(amount.replaceAll(',', ''), payment.currency)
  if (typeof minor === 'string' || minor <= 0n) {
    const example = formatMoney(left > 0n ? left : payment.total, payment.currency)
    const text = left > 0n ? fill(texts.amount, { example }) : paymentTexts[lang].noneLeft
    return { fault: { of: 'amount', text } }
  }
  return { amount: minor, reason }
}

// Says that no money has moved, and why.
function faultText({ lang }: MerchantVisit, { explained }: PaymentDetails, fault: RefundFault): string {
  const { refundFaults, refused } = paymentTexts[lang]
  const { currency } = explained.payment
  const minor =
    'left' in fault ? fault.left : 'minimum' in fault ? fault.minimum : 'amount' in fault ? fault.amount : 0n
  const days = 'days' in fault ? fault.days : 0
  const why = fill(refundFaults[fault.fault], { money: moneyText(currency, minor), days })
  return `${why} ${refused.refund}`
}
