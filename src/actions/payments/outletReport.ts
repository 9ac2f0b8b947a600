import type { Mode } from '../../core/mode.ts'
import type { Db } from '../../store/db.ts'
import { type ReportRow, reportByOutlet } from '../../store/payments/outletReport.ts'

// How far the time in a reference may be ahead of its payment's: references never step back, clocks do.
const clockStepMs = 24 * 60 * 60_000

export type ReportWish = { merchant_id: string; mode: Mode; outlet?: string; from: Date; until: Date }
export type ReportTotal = Pick<ReportRow, 'status' | 'currency' | 'payments' | 'total'>
export type OutletReport = { rows: ReportRow[]; totals: ReportTotal[] }

// What a merchant's outlets asked for in a time, by the payment's creation, and how it stands now.
export async function outletReport(db: Db, wish: ReportWish): Promise<OutletReport> {
  const rows = await reportByOutlet(db, {
    ...wish,
    firstReference: referenceAt(wish.from),
    endReference: referenceAt(new Date(wish.until.getTime() + clockStepMs)),
  })
  return { rows, totals: totalsOf(rows) }
}

// Over all outlets and ways. Never over statuses: money that came and money that did not is no sum.
function totalsOf(rows: readonly ReportRow[]): ReportTotal[] {
  const totals = new Map<string, ReportTotal>()
  for (const { status, currency, payments, total } of rows) {
    const key = `${status} ${currency}`
    const before = totals.get(key) ?? { status, currency, payments: 0n, total: 0n }
    totals.set(key, { ...before, payments: before.payments + payments, total: before.total + total })
  }
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total)
}

const plainDigits = '0123456789abcdefghijklmnopqrstuv'
const ourDigits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const timeLength = 9
const lastTime = 32 ** timeLength - 1

// The least reference that a payment of this moment could have.
export function referenceAt(at: Date): string {
  const time = Math.min(Math.max(at.getTime(), 0), lastTime)
  const spelt = [...time.toString(32)].map(digit => ourDigits[plainDigits.indexOf(digit)]).join('')
  const text = spelt.padStart(timeLength, '0').padEnd(18, '0')
  return `TG-${text.slice(0, 6)}-${text.slice(6, 12)}-${text.slice(12)}`
}
