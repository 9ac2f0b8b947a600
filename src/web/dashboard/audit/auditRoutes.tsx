import { auditCsv, auditEntriesOf, type AuditSearch, searchAudit } from '../../../actions/access/auditLog.ts'
import {
  lastAuditSeal,
  type MerchantLogReport,
  verifyAuditLog,
  verifyMerchantLog,
} from '../../../actions/access/auditSeal.ts'
import { tooManyRequests } from '../../../core/interface/refusal.ts'
import { withoutControlCharacters } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import {
  type MerchantRoute,
  type MerchantVisit,
  operatorBase,
  type OperatorRoute,
  type Visit,
} from '../route.ts'
import { sendCsv } from '../sendCsv.ts'
import {
  type AuditField,
  auditFields,
  MerchantAuditPage,
  OperatorAuditPage,
  type TypedSearch,
  type Verified,
} from './auditPages.tsx'

const pageRows = 50
const maxTyped = 200
const batchDeadlineMs = 10_000
const retryAfterSeconds = 5
const dayMs = 86_400_000
const operatorPath = `${operatorBase}/audit`

// A verification reads the log of all merchants, so one runs at a time on each node, and another one is refused with 429.
export type Verifying = <T>(verify: () => Promise<T>) => Promise<T>

export function oneVerification(): Verifying {
  let isRunning = false
  return async verify => {
    if (isRunning) throw tooManyRequests(retryAfterSeconds)
    isRunning = true
    try {
      return await verify()
    } finally {
      isRunning = false
    }
  }
}

type AuditDeps = AreaDeps & { verifying: Verifying }

// The log of one merchant, below its settings.
export const merchantAuditRoutes = (deps: AuditDeps): MerchantRoute[] => [
  {
    method: 'get',
    path: '/settings/audit',
    permission: 'audit.view',
    handle: (c, visit) => showOwn(c, visit),
  },
  {
    method: 'post',
    path: '/settings/audit/verify',
    permission: 'audit.view',
    handle: (c, visit) => verifyOwn(deps, c, visit),
  },
  {
    method: 'get',
    path: '/settings/audit/export',
    permission: 'audit.view',
    handle: (c, visit) => exportLog(deps, c, visit, visit.merchant.merchant_id),
  },
]

// The whole log.
export const operatorAuditRoutes = (deps: AuditDeps): OperatorRoute[] => [
  {
    method: 'get',
    path: '/audit',
    permission: 'operator_audit.view',
    handle: (c, visit) => showAll(c, visit),
  },
  {
    method: 'get',
    path: '/audit/export',
    permission: 'operator_audit.view',
    handle: (c, visit) => exportLog(deps, c, visit),
  },
  {
    method: 'post',
    path: '/audit/verify',
    permission: 'operator_audit.view',
    handle: (c, visit) => verifyAll(deps, c, visit),
  },
]

async function showOwn(c: Ctx, visit: MerchantVisit, report?: MerchantLogReport) {
  const log = await readLog(c, visit, visit.merchant.merchant_id)
  return sendDashboardPage(c, <MerchantAuditPage visit={visit} {...log} report={report} />)
}

async function showAll(c: Ctx, visit: Visit, verified?: Verified) {
  const log = await readLog(c, visit)
  return sendDashboardPage(
    c,
    <OperatorAuditPage visit={visit} path={operatorPath} {...log} verified={verified} />,
  )
}

async function verifyOwn({ runtime, verifying }: AuditDeps, c: Ctx, visit: MerchantVisit) {
  const open = batchesOf(runtime)
  const report = await verifying(() => verifyMerchantLog(open, visit.merchant.merchant_id))
  return showOwn(c, { ...visit, db: open() }, report)
}

async function verifyAll({ runtime, verifying }: AuditDeps, c: Ctx, visit: Visit) {
  const open = batchesOf(runtime)
  const { sealFault, rows, seals } = await verifying(() => verifyAuditLog(open))
  return showAll(
    c,
    { ...visit, db: open() },
    sealFault
      ? { intact: false, seal: sealFault.seal, entry: sealFault.row_id, words: sealFault.words }
      : { intact: true, rows, seals },
  )
}

async function readLog(c: Ctx, visit: Visit, merchant_id?: string) {
  const { typed, search, wrongDates } = readSearch(c, merchant_id)
  const behind = textOf(c, 'behind') || undefined
  const [page, seal] = await Promise.all([
    searchAudit(visit.db, search, { behind, limit: pageRows }),
    lastAuditSeal(visit.db),
  ])
  return {
    typed,
    page,
    wrongDates,
    seal: seal && { number: seal.number, until_at: seal.until_at, digest: seal.digest.toString('hex') },
    isFirst: behind === undefined,
  }
}

function exportLog({ runtime }: AreaDeps, c: Ctx, visit: Visit | MerchantVisit, merchant_id?: string) {
  const { search } = readSearch(c, merchant_id)
  const open = batchesOf(runtime)
  const day = visit.now.toISOString().slice(0, 10)
  return sendCsv(
    c,
    `audit-${merchant_id ?? 'all'}-${day}.csv`,
    auditCsv(auditEntriesOf(open, search), visit.role),
  )
}

// Each batch has its own deadline: all of them together may take longer than a page.
const batchesOf = (runtime: AreaDeps['runtime']) => () =>
  runtime.db.withQuota('dashboard').withDeadline(performance.now() + batchDeadlineMs)

const textOf = (c: Ctx, name: string) =>
  withoutControlCharacters((c.req.query(name) ?? '').slice(0, maxTyped)).trim()

// Of a merchant's log the merchant is fixed. A day that cannot be read is named, and not searched for.
function readSearch(c: Ctx, merchant_id?: string) {
  const typed = Object.fromEntries(auditFields.map(name => [name, textOf(c, name)])) as TypedSearch
  const wrongDates = (['from', 'to'] as const).filter(name => typed[name] && !dayOf(typed[name]))
  const [from, to] = [dayOf(typed.from), dayOf(typed.to)]
  const search: AuditSearch = {
    ...(typed.actor && { actor: typed.actor }),
    ...(typed.subject && { subject: typed.subject }),
    ...(typed.action && { action: typed.action }),
    ...(typed.merchant && { merchant_id: typed.merchant }),
    ...(from && { from }),
    ...(to && { until: new Date(to.getTime() + dayMs) }), // the last day is included
    ...(merchant_id !== undefined && { merchant_id }),
  }
  return { typed, search, wrongDates: wrongDates as AuditField[] }
}

function dayOf(text: string): Date | undefined {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined
  return date && !Number.isNaN(date.getTime()) ? date : undefined
}
