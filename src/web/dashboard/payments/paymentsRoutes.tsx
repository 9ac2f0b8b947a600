import { outletNames, paymentPage } from '../../../actions/payments/merchantPayments.ts'
import { parseReference } from '../../../core/payment/reference.ts'
import { type PagePlace, readListFilter } from '../../../core/payment/listFilter.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { PaymentsPage } from './listPage.tsx'

const pageSize = 25

// Offered as filters, although a merchant may have others; these can be chosen by the address of the page.
const offeredMethods = ['mtn_mobile_money', 'telecel_cash', 'airteltigo_money', 'card', 'ghqr']

export const paymentsRoutes = (deps: AreaDeps): MerchantRoute[] => [
  {
    method: 'get',
    path: '/payments',
    permission: 'payments.view',
    handle: (c, visit) => showList(deps, c, visit),
  },
]

async function showList({ runtime: { timeZone } }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { db, mode, now } = visit
  const { merchant_id } = visit.merchant
  const filter = readListFilter(name => c.req.queries(name) ?? [])
  const place = placeOf(c)
  const [page, outlets] = await Promise.all([
    paymentPage(db, { merchant_id, mode, filter, timeZone, now }, place, pageSize),
    outletNames(db, merchant_id),
  ])
  const choices = { outlets, timeZone, methods: offeredMethods }
  return sendDashboardPage(
    c,
    <PaymentsPage visit={visit} filter={filter} choices={choices} page={page} going={place.going} />,
  )
}

function placeOf(c: Ctx): PagePlace {
  const before = parseReference(c.req.query('before') ?? '')
  const after = before ? undefined : parseReference(c.req.query('after') ?? '')
  return after ? { going: 'newer', from: after } : { going: 'older', from: before }
}
