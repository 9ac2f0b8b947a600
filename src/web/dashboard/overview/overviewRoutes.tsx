import { merchantAttention, merchantOverview, type Overview } from '../../../actions/overview/overview.ts'
import { overviewPeriods } from '../../../core/overview/figures.ts'
import { type Currency, defaultCurrency } from '../../../core/money.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { zonedDates } from '../frame/zonedDates.ts'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { EmptyOverviewPage, OverviewPage } from './overviewPage.tsx'

// A merchant's first page.
export const overviewRoutes = (deps: AreaDeps): MerchantRoute[] => [
  {
    method: 'get',
    path: '',
    permission: 'overview.view',
    handle: (c, visit) => showOverview(deps, c, visit),
  },
]

async function showOverview({ runtime: { timeZone } }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { db, mode, now, lang } = visit
  const scope = { merchant_id: visit.merchant.merchant_id, mode }
  const period = overviewPeriods.find(one => one === c.req.query('period')) ?? 'day'
  const [overview, attention] = await Promise.all([
    merchantOverview(db, scope, period, timeZone, now),
    merchantAttention(db, scope, now),
  ])
  if (!overview) return sendDashboardPage(c, <EmptyOverviewPage visit={visit} />)
  const props = { visit, dates: zonedDates(lang, timeZone), period, overview }
  const currency = chartCurrency(overview, c.req.query('currency'))
  return sendDashboardPage(c, <OverviewPage {...props} currency={currency} attention={attention} />)
}

// The chosen one, or else the first that was paid in.
function chartCurrency({ figures, figuresBefore, latest }: Overview, chosen: string | undefined): Currency {
  const paid = [...new Set([...figures.paid.keys(), ...figuresBefore.paid.keys()])]
  return paid.find(one => one === chosen) ?? paid[0] ?? latest[0]?.currency ?? defaultCurrency
}
