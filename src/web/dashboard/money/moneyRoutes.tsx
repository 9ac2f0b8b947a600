import {
  allStatementLines,
  disputeList,
  merchantBalances,
  merchantClosing,
  type NamedClosingRow,
  recordExport,
  reversalList,
  statementPage,
} from '../../../actions/money/merchantMoney.ts'
import { figureIn } from '../../../core/money.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { startOfDay } from '../../../core/zone.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { BalancePage } from './balancePage.tsx'
import { ClosingPage } from './closingPage.tsx'
import { csvAnswer, type CsvCell } from './csvAnswer.ts'
import { DisputesPage } from './disputesPage.tsx'
import { moneyScope, moneyView } from './moneyFrame.tsx'
import { daysOf, isoDay, maxClosingDays, rangeOf, readRange } from './moneyPeriod.ts'
import { approveForm, rejectForm, showRefunds } from './refundForms.tsx'
import { MoneyStatementPage } from './statementPage.tsx'

const pageSize = 50
const partDeadlineMs = 10_000 // of one part of an export

type Show = (deps: AreaDeps, c: Ctx, visit: MerchantVisit) => Promise<Response>

// Balance, statement, closing, refunds and disputes of a merchant.
export const moneyRoutes = (deps: AreaDeps): MerchantRoute[] => {
  const get = (
    path: string,
    show: Show,
    permission: MerchantRoute['permission'] = 'money.view',
  ): MerchantRoute => ({
    method: 'get',
    path: `/money${path}`,
    permission,
    handle: (c, visit) => show(deps, c, visit),
  })
  const decide = (path: string, handle: Show, isSensitive: boolean): MerchantRoute => ({
    method: 'post',
    path: `/money/refunds/${path}`,
    permission: 'refunds.approve',
    isSensitive,
    handle: (c, visit) => handle(deps, c, visit),
  })
  return [
    get('', showBalance),
    get('/statement', showStatement),
    get('/statement.csv', sendStatement, 'money.export'),
    get('/closing', showClosing),
    get('/closing.csv', sendClosing, 'money.export'),
    get('/refunds', showRefunds),
    get('/disputes', showDisputes),
    decide('approve', approveForm, true),
    decide('reject', rejectForm, false),
  ]
}

async function showBalance(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { db, now } = visit
  const view = moneyView(deps, visit)
  const month = readRange(`${view.dates.iso(now).slice(0, 8)}01`, view.dates.iso(now), view.zone)
  const today = { from: startOfDay(now, view.zone), until: now }
  const scope = moneyScope(visit)
  const [balances, rows] = await Promise.all([
    merchantBalances(db, scope, month?.from ?? today.from, now),
    merchantClosing(db, scope, today),
  ])
  return sendDashboardPage(c, <BalancePage view={view} balances={balances} today={rows} />)
}

async function showStatement(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const view = moneyView(deps, visit)
  const range = rangeOf(c, visit.now, view.zone)
  const after = c.req.query('after')
  const place = { after, limit: pageSize, zone: view.zone }
  const page = await statementPage(visit.db, moneyScope(visit), range, place)
  return sendDashboardPage(
    c,
    <MoneyStatementPage view={view} range={range} page={page} isFirst={after === undefined} />,
    range.isWrong ? 422 : 200,
  )
}

async function showClosing(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const view = moneyView(deps, visit)
  const day = c.req.query('day')
  const today = rangeOf(c, visit.now, view.zone, maxClosingDays)
  const range = day === undefined ? today : { ...(readRange(day, day, view.zone) ?? today), isWrong: false }
  const isWrong = range.isWrong || (day !== undefined && range.first !== day)
  const rows = await merchantClosing(visit.db, moneyScope(visit), { ...range, until: range.until })
  return sendDashboardPage(
    c,
    <ClosingPage view={view} range={{ ...range, isWrong }} rows={rows} />,
    isWrong ? 422 : 200,
  )
}

// Each part of an export has its own deadline: the whole may take minutes.
const partDb =
  ({ runtime }: AreaDeps) =>
  () =>
    runtime.db.withQuota('dashboard').withDeadline(performance.now() + partDeadlineMs)

async function sendStatement(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { timeZone } = deps.runtime
  const range = rangeOf(c, visit.now, timeZone)
  if (range.isWrong) return showStatement(deps, c, visit)
  const scope = moneyScope(visit)
  await recordExport(visit.db, scope, 'statement', range, visit)
  async function* parts(): AsyncGenerator<CsvCell[][]> {
    for await (const lines of allStatementLines(partDb(deps), scope, range, timeZone))
      yield lines.map(line => [
        line.created_at.toISOString(),
        line.kind,
        line.invoice_id ?? '',
        line.tx_reference ?? '',
        line.outlet ?? '',
        line.currency,
        { figure: signedFigure(line.moved, line.currency) },
        { figure: signedFigure(line.balance, line.currency) },
        line.reason,
      ])
  }
  return csvAnswer(c, `statement-${visit.mode}-${range.first}-${range.last}`, statementColumns, parts())
}

const statementColumns = [
  'booked_at',
  'kind',
  'invoice_id',
  'tx_reference',
  'outlet',
  'currency',
  'amount',
  'balance',
  'reason',
]

const signedFigure = (minor: bigint, currency: string) =>
  minor < 0n ? `-${figureIn(-minor, currency)}` : figureIn(minor, currency)

async function sendClosing(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { timeZone } = deps.runtime
  const range = rangeOf(c, visit.now, timeZone, maxClosingDays)
  if (range.isWrong) return showClosing(deps, c, visit)
  const scope = moneyScope(visit)
  await recordExport(visit.db, scope, 'closing', range, visit)
  async function* parts(): AsyncGenerator<CsvCell[][]> {
    for (const day of daysOf(range, timeZone)) {
      const rows = await merchantClosing(partDb(deps)(), scope, day)
      yield rows.map(row => closingCells(isoDay(day.from, timeZone), row))
    }
  }
  return csvAnswer(c, `closing-${visit.mode}-${range.first}-${range.last}`, closingColumns, parts())
}

const sums = ['gross', 'fees', 'refunds', 'disputes', 'other', 'net'] as const
const closingColumns = ['day', 'outlet', 'outlet_name', 'payment_method', 'currency', 'payments', ...sums]

const closingCells = (day: string, row: NamedClosingRow): CsvCell[] => [
  day,
  row.outlet ?? '',
  row.outlet_name ?? '',
  row.payment_method ? paymentMethodName(row.payment_method) : '',
  row.currency,
  { figure: String(row.payments) },
  ...sums.map(name => ({ figure: signedFigure(row[name], row.currency) })),
]

async function showDisputes(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { db } = visit
  const asked = c.req.query('kind')
  const kind = asked === 'open' || asked === 'reversals' ? asked : 'disputes'
  const [at, id] = [new Date(c.req.query('at') ?? ''), c.req.query('id') ?? '']
  const before = Number.isNaN(at.getTime()) ? undefined : { at, id }
  const limit = pageSize + 1
  const scope = moneyScope(visit)
  const disputes =
    kind === 'reversals' ? [] : await disputeList(db, scope, { isOpen: kind === 'open', before, limit })
  const reversals = kind === 'reversals' ? await reversalList(db, scope, { before, limit }) : []
  const places = [
    ...disputes.map(one => ({ at: one.opened_at, id: one.dispute_id })),
    ...reversals.map(one => ({ at: one.created_at, id: one.reversal_id })),
  ]
  const last = places.length > pageSize ? places[pageSize - 1] : undefined
  const rows = {
    kind,
    disputes: disputes.slice(0, pageSize),
    reversals: reversals.slice(0, pageSize),
    next: last && `at=${encodeURIComponent(last.at.toISOString())}&id=${encodeURIComponent(last.id)}`,
    isFirst: before === undefined,
  } as const
  return sendDashboardPage(c, <DisputesPage view={moneyView(deps, visit)} rows={rows} />)
}
