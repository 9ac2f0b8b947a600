import {
  readOperatorRefunds,
  readRefundRecord,
  recordAsOperator,
  type TypedRecord,
} from '../../../actions/refunds/refundsOfOperator.ts'
import { approveRefund, rejectRefund } from '../../../actions/refunds/refundApprovals.ts'
import type { ApprovalFault } from '../../../core/refund/approval.ts'
import type { RefundFault } from '../../../core/refund/refund.ts'
import { isPlainText } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import { type OperatorRoute, operatorBase, type Visit } from '../route.ts'
import { OperatorRefundsPage, type RefundPageFault } from './operatorRefundsPage.tsx'
import {
  type DecisionFault,
  type OperatorRefundNotice,
  operatorRefundsTexts,
} from './operatorRefundsTexts.ts'

const maxReason = 200

type Handle = (deps: AreaDeps, c: Ctx, visit: Visit) => Promise<Response>

// Refunds of all merchants that wait for a person. To decide one, the password or a code was entered a moment ago.
export const operatorRefundsRoutes = (deps: AreaDeps): OperatorRoute[] => {
  const deciding = (name: string, handle: Handle): OperatorRoute => ({
    method: 'post',
    path: `/refunds/${name}`,
    permission: 'operator_refunds.approve',
    isSensitive: true,
    handle: (c, visit) => handle(deps, c, visit),
  })
  return [
    {
      method: 'get',
      path: '/refunds',
      permission: 'operator_refunds.view',
      handle: (c, visit) => showOperatorRefunds(deps, c, visit),
    },
    deciding('approve', approveForm),
    deciding('reject', rejectForm),
    deciding('record', recordForm),
  ]
}

const refundsPath = `${operatorBase}/refunds`
const done = (c: Ctx, notice: OperatorRefundNotice) => c.redirect(`${refundsPath}?done=${notice}`, 303)

async function showOperatorRefunds({ runtime }: AreaDeps, c: Ctx, visit: Visit, fault?: RefundPageFault) {
  const waiting = await readOperatorRefunds(visit.db, visit.now)
  const notices = Object.keys(operatorRefundsTexts[visit.lang].done) as OperatorRefundNotice[]
  return sendDashboardPage(
    c,
    <OperatorRefundsPage
      visit={visit}
      {...waiting}
      zone={runtime.timeZone}
      notice={notices.find(word => word === c.req.query('done'))}
      fault={fault}
    />,
    fault ? 422 : 200,
  )
}

const keyOf = (visit: Visit) => ({
  merchant_id: visit.field('merchant'),
  refund_reference: visit.field('refund'),
})

const userOf = ({ signedIn, actor }: Visit) => ({
  user_id: signedIn.user.user_id,
  name: signedIn.user.name,
  actor,
})

function wordOf({ fault }: ApprovalFault | RefundFault): DecisionFault {
  if (fault === 'no_such_approval' || fault === 'same_person' || fault === 'ended') return fault
  if (fault === 'more_than_left') return 'amount'
  return fault === 'over_daily_limit' ? 'limit' : 'refused'
}

async function approveForm(deps: AreaDeps, c: Ctx, visit: Visit) {
  const key = keyOf(visit)
  if (!isPlainText(key.merchant_id + key.refund_reference)) return problemPage(c, visit.lang, 'notFound')
  const result = await approveRefund(deps.runtime, key, userOf(visit), visit.now)
  if (!('fault' in result)) return done(c, result.done === 'approved' ? 'approved' : 'already')
  const text = operatorRefundsTexts[visit.lang].decisionFaults[wordOf(result)]
  return showOperatorRefunds(deps, c, visit, { ...key, text })
}

async function rejectForm(deps: AreaDeps, c: Ctx, visit: Visit) {
  const key = keyOf(visit)
  const { decisionFaults } = operatorRefundsTexts[visit.lang]
  const typed = visit.field('reason')
  const reason = typed.trim()
  if (reason === '' || reason.length > maxReason)
    return showOperatorRefunds(deps, c, visit, { ...key, text: decisionFaults.why, reason: typed })
  const result = await rejectRefund(deps.runtime, key, reason, userOf(visit), visit.now)
  if ('done' in result) return done(c, 'rejected')
  if (result.fault === 'ended') return done(c, 'already')
  return showOperatorRefunds(deps, c, visit, { ...key, text: decisionFaults[wordOf(result)], reason: typed })
}

async function recordForm(deps: AreaDeps, c: Ctx, visit: Visit) {
  const typed: TypedRecord = {
    outcome: visit.field('outcome'),
    at: visit.field('at').trim(),
    reference: visit.field('reference').trim(),
    note: visit.field('note').trim(),
  }
  const record = readRefundRecord(typed, visit.signedIn.user.name, visit.now)
  const key = keyOf(visit)
  if (typeof record === 'string') {
    const text = operatorRefundsTexts[visit.lang].faults[record]
    return showOperatorRefunds(deps, c, visit, { ...key, text, field: record, typed })
  }
  const { localWorkers, watch } = deps.runtime
  const outcome = await recordAsOperator(
    { db: visit.db, localWorkers, watch },
    key,
    record,
    visit.actor,
    visit.now,
  )
  return outcome ? done(c, outcome) : problemPage(c, visit.lang, 'notFound')
}
