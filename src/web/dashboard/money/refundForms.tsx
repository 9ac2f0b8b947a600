import { refundList } from '../../../actions/money/merchantMoney.ts'
import { listEndedApprovals, listWaitingApprovals } from '../../../actions/refunds/listApprovals.ts'
import { approveRefund, rejectRefund } from '../../../actions/refunds/refundApprovals.ts'
import { readRefundReason } from '../../../core/interface/refundRequest.ts'
import type { ApprovalFault } from '../../../core/refund/approval.ts'
import { type RefundFault, refundStates } from '../../../core/refund/refund.ts'
import { fill } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { MerchantVisit } from '../route.ts'
import { moneyScope, moneyView, signedMoney } from './moneyFrame.tsx'
import { type MoneyNotice, moneyTexts } from './moneyTexts.ts'
import { type ApprovalNote, RefundsPage } from './refundsPage.tsx'

const pageSize = 50
const shownEnded = 20

export async function showRefunds(
  deps: AreaDeps,
  c: Ctx,
  visit: MerchantVisit,
  fault?: ApprovalNote,
): Promise<Response> {
  const { db, now, lang } = visit
  const scope = moneyScope(visit)
  const state = refundStates.find(one => one === c.req.query('state'))
  const before = c.req.query('before')
  const [refunds, waiting, ended] = await Promise.all([
    refundList(db, scope, { state, before, limit: pageSize + 1 }),
    listWaitingApprovals(db, scope, now),
    listEndedApprovals(db, scope, now, shownEnded),
  ])
  const notices = Object.keys(moneyTexts[lang].notices) as MoneyNotice[]
  return sendDashboardPage(
    c,
    <RefundsPage
      view={moneyView(deps, visit)}
      refunds={refunds.slice(0, pageSize)}
      state={state}
      next={refunds.length > pageSize ? refunds[pageSize - 1]?.refund_reference : undefined}
      isFirst={before === undefined}
      waiting={waiting}
      ended={ended}
      notice={notices.find(one => one === c.req.query('done'))}
      fault={fault}
    />,
    fault ? 422 : 200,
  )
}

const done = (c: Ctx, { base }: MerchantVisit, notice: MoneyNotice) =>
  c.redirect(`${base}/money/refunds?done=${notice}`, 303)

const userOf = ({ signedIn, actor }: MerchantVisit) => ({
  user_id: signedIn.user.user_id,
  name: signedIn.user.name,
  actor,
})

// Of the merchant and mode of the page only.
async function approvalOfPage(visit: MerchantVisit, refund_reference: string) {
  const scope = moneyScope(visit)
  const waiting = await listWaitingApprovals(visit.db, scope, visit.now)
  return waiting.find(one => one.refund_reference === refund_reference)
}

export async function approveForm(deps: AreaDeps, c: Ctx, visit: MerchantVisit): Promise<Response> {
  const key = { merchant_id: visit.merchant.merchant_id, refund_reference: visit.field('refund') }
  const { faults } = moneyTexts[visit.lang].approvals
  const result = await approveRefund(deps.runtime, key, userOf(visit), visit.now)
  if (!('fault' in result)) return done(c, visit, 'approved')
  const approval = await approvalOfPage(visit, key.refund_reference)
  const left =
    'left' in result && approval ? signedMoney(result.left, approval.currency, visit.lang) : undefined
  const text = fill(faults[wordOf(result)], { left: left ?? '' })
  return showRefunds(deps, c, visit, { refund_reference: key.refund_reference, text })
}

function wordOf({ fault }: ApprovalFault | RefundFault) {
  if (fault === 'no_such_approval' || fault === 'same_person' || fault === 'ended') return fault
  if (fault === 'more_than_left') return 'amount'
  return fault === 'over_daily_limit' ? 'limit' : 'refused'
}

export async function rejectForm(deps: AreaDeps, c: Ctx, visit: MerchantVisit): Promise<Response> {
  const key = { merchant_id: visit.merchant.merchant_id, refund_reference: visit.field('refund') }
  const { faults, needsWhy } = moneyTexts[visit.lang].approvals
  const typed = visit.field('reason')
  const reason = readReason(typed)
  if (reason === undefined)
    return showRefunds(deps, c, visit, { refund_reference: key.refund_reference, text: needsWhy, typed })
  const result = await rejectRefund(deps.runtime, key, reason, userOf(visit), visit.now)
  if ('done' in result) return done(c, visit, 'rejected')
  return showRefunds(deps, c, visit, {
    refund_reference: key.refund_reference,
    text: faults[wordOf(result)],
    typed,
  })
}

// Undefined: empty, too long, or not one line of text.
function readReason(typed: string): string | undefined {
  try {
    return readRefundReason(typed) || undefined
  } catch {
    return undefined
  }
}
