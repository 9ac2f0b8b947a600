import type { Mode } from '../../core/mode.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import type { Db } from '../../store/db.ts'
import { type ReportRow, reportByOutlet } from '../../store/payments/reports.ts'

// How far the time in a reference may be ahead of its payment's: references never go back, clocks do.
const clockStepMs = 24 * 60 * 60_000

type ReportRequest = { merchant_id: string; mode: Mode; outlet?: string; from: Date; until: Date }
export type ReportTotal = Pick<ReportRow, 'status' | 'currency' | 'payments' | 'total'>
export type OutletReport = { rows: ReportRow[]; totals: ReportTotal[] }

// The payments that a merchant's outlets requested in a period, by their creation and present status.
export async function outletReport(db: Db, request: ReportRequest): Promise<OutletReport> {
  const rows = await reportByOutlet(db, {
    ...request,
    firstReference: firstReferenceAt(request.from),
    endReference: firstReferenceAt(new Date(request.until.getTime() + clockStepMs)),
  })
  return { rows, totals: totalsOf(rows) }
}

// Over all outlets and payment methods. Never over statuses: paid and unpaid amounts do not add up.
function totalsOf(rows: readonly ReportRow[]): ReportTotal[] {
  const totals = new Map<string, ReportTotal>()
  for (const { status, currency, payments, total } of rows) {
    const key = `${status} ${currency}`
    const before = totals.get(key) ?? { status, currency, payments: 0n, total: 0n }
    totals.set(key, { ...before, payments: before.payments + payments, total: before.total + total })
  }
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total)
}
