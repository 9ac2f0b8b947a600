import {
  type CountedRow,
  type Figures,
  figuresOf,
  type OverviewPeriod,
  type OverviewScope,
  overviewSpans,
  type SlotRow,
  type Span,
  type Spans,
} from '../../core/overview/figures.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import {
  countRefundsToAct,
  type EndingSecret,
  endingSecrets,
  exhaustedSince,
  type FailureCount,
  failureCounts,
  type OpenDispute,
  openDisputes,
  payTimes,
  type PayTimes,
  waitingEndpoints,
  type WaitingEndpoint,
} from '../../store/overview/overview.ts'
import { inOneSnapshot, reportByParts } from '../../store/payments/reports.ts'
import { listOutlets } from '../../store/merchants/merchants.ts'
import { unacknowledgedAmong } from '../../store/notifications/notificationList.ts'
import { listPayments } from '../../store/payments/payments.ts'
import { periodOf, reportParts } from '../payments/outletReport.ts'
import { listWaitingApprovals } from '../refunds/listApprovals.ts'

const maxSample = 2000 // payments whose time to pay and reason of failure are read
const maxCounted = 1000
const latest = 5
const mostRead = 2000 // to find the latest of one mode
const dayMs = 86_400_000
const warnDays = 14 // before a key or a secret ends

export type Sample = PayTimes & { isPart: boolean } // isPart: there are more payments than were read

export type Overview = Spans & {
  figures: Figures
  figuresBefore: Figures // of the whole slots, for the picture
  comparedWith: Pick<Figures, 'ends' | 'paid'> // as far as the present period has come
  sample: Sample
  sampleBefore: Sample
  failures: readonly FailureCount[]
  latest: readonly Payment[]
  unacknowledged: ReadonlySet<string> // of the latest
  outletNames: ReadonlyMap<string, string>
}

// Everything of a merchant's overview except what needs attention. Undefined: no payment was ever requested in this mode.
export async function merchantOverview(
  db: Db,
  scope: OverviewScope,
  period: OverviewPeriod,
  zone: string,
  now: Date,
): Promise<Overview | undefined> {
  const filter = { mode: scope.mode, limit: latest }
  const [newest, outlets] = await Promise.all([
    listPayments(db, scope.merchant_id, filter, mostRead),
    listOutlets(db, scope.merchant_id),
  ])
  const spans = overviewSpans(period, zone, now)
  const { present, before } = spans
  const references = newest.map(({ tx_reference }) => tx_reference)
  const [rows, rowsBefore, sample, sampleBefore, failures, unacknowledged] = await Promise.all([
    countedRows(db, scope, present),
    countedRows(db, scope, before, before.sameTime),
    sampleOf(db, scope, present.from, now),
    sampleOf(db, scope, before.from, before.sameTime),
    failureCounts(db, scope, sampledPeriod(present.from, now), maxSample),
    unacknowledgedAmong(db, scope.merchant_id, references),
  ])
  if (newest.length === 0 && rows.all.length === 0 && rowsBefore.all.length === 0) return undefined
  return {
    ...spans,
    figures: figuresOf(rows.all, present.slots.length),
    figuresBefore: figuresOf(rowsBefore.all, before.slots.length),
    comparedWith: figuresOf(rowsBefore.early, 0),
    sample,
    sampleBefore,
    failures,
    latest: newest,
    unacknowledged: new Set(unacknowledged),
    outletNames: new Map(outlets.map(({ code, name }) => [code, name])),
  }
}

// The sums of a span, and those until a moment that divides one of its slots.
async function countedRows(
  db: Db,
  scope: OverviewScope,
  { slots, from, until }: Span,
  divided = until,
): Promise<{ all: CountedRow[]; early: CountedRow[] }> {
  const moments = [...new Set([...slots, divided].map(at => at.getTime()))].sort((a, b) => a - b)
  const partAt = (at: number) => moments.findLastIndex(moment => moment <= at)
  const rows = await inOneSnapshot(db, async tx => {
    const parts = await reportParts(
      tx,
      scope,
      { from, until },
      ({ from_at, until_at }) => partAt(from_at.getTime()) === partAt(until_at.getTime() - 1),
    )
    const dates = moments.map(at => new Date(at))
    return reportByParts(tx, scope, parts, dates)
  })
  const startOf = (row: SlotRow) => moments[row.slot - 1] ?? 0
  const slotOf = (row: SlotRow) => slots.findLastIndex(start => start.getTime() <= startOf(row)) + 1
  return {
    all: rows.map(row => (row.by === 'slot' ? { ...row, slot: slotOf(row) } : row)),
    early: rows.filter(row => row.by === 'slot' && startOf(row) < divided.getTime()),
  }
}

async function sampleOf(db: Db, scope: OverviewScope, from: Date, until: Date): Promise<Sample> {
  const times = await payTimes(db, scope, sampledPeriod(from, until), maxSample)
  const { payments, paid, seconds } = times ?? { payments: 0, paid: 0, seconds: null }
  return { payments, paid, seconds, isPart: payments === maxSample }
}

// Of a sample, payments with a reference that is ahead of its time may be missing.
const sampledPeriod = (from: Date, until: Date) => ({
  ...periodOf({ from, until }),
  endReference: firstReferenceAt(until),
})

export type Attention = {
  endpoints: readonly WaitingEndpoint[]
  exhausted: readonly WaitingEndpoint[]
  secrets: readonly EndingSecret[]
  disputes: readonly OpenDispute[]
  refundsToAct: number
  approvals: number
}

// What needs a person.
export const merchantAttention = (db: Db, scope: OverviewScope, now: Date): Promise<Attention> =>
  db.transaction(async tx => ({
    endpoints: await waitingEndpoints(tx, scope, maxCounted),
    exhausted: await exhaustedSince(tx, scope, new Date(now.getTime() - dayMs), maxCounted),
    secrets: await endingSecrets(tx, scope, now, new Date(now.getTime() + warnDays * dayMs)),
    disputes: await openDisputes(tx, scope, maxCounted),
    refundsToAct: await countRefundsToAct(tx, scope, maxCounted),
    approvals: (await listWaitingApprovals(tx, scope, now)).length,
  }))
