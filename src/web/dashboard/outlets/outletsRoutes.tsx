import { createOutlet, outletsOf } from '../../../actions/merchants/outlets.ts'
import { isOutletCode, isOutletName } from '../../../core/merchant/outlet.ts'
import type { Ctx } from '../../http/context.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { OutletsPage, outletsPath } from './outletsPage.tsx'
import type { OutletFault } from './outletsTexts.ts'

// The outlets of a merchant, below its settings.
export const outletsRoutes: readonly MerchantRoute[] = [
  {
    method: 'get',
    path: '/settings/outlets',
    permission: 'settings.view',
    handle: (c, visit) => showOutlets(c, visit),
  },
  { method: 'post', path: '/settings/outlets', permission: 'settings.change', handle: addForm },
]

type Refused = { typed: { code: string; name: string }; fault: OutletFault }

async function showOutlets(c: Ctx, visit: MerchantVisit, refused?: Refused) {
  const outlets = await outletsOf(visit.db, visit.merchant.merchant_id)
  const notice = (['added', 'already'] as const).find(word => word === c.req.query('done'))
  return sendDashboardPage(
    c,
    <OutletsPage visit={visit} outlets={outlets} notice={notice} {...refused} />,
    refused ? 422 : 200,
  )
}

async function addForm(c: Ctx, visit: MerchantVisit) {
  const typed = { code: visit.field('code').trim(), name: visit.field('name').trim() }
  const refuse = (fault: OutletFault) => showOutlets(c, visit, { typed, fault })
  if (!isOutletCode(typed.code)) return refuse('code')
  if (!isOutletName(typed.name)) return refuse('name')
  const { merchant_id } = visit.merchant
  const { done } = await createOutlet(visit.db, visit.actor, { merchant_id, ...typed }, visit.now)
  if (done === 'taken' || done === 'full') return refuse(done)
  return c.redirect(`${outletsPath(visit)}?done=${done}`, 303)
}
