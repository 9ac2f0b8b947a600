import type { Attention, Overview } from '../../../actions/overview/overview.ts'
import type { Currency } from '../../../core/money.ts'
import type { OverviewPeriod } from '../../../core/overview/figures.ts'
import type { ZonedDates } from '../frame/zonedDates.ts'
import type { MerchantVisit } from '../route.ts'

// What every part of the overview shows.
export type OverviewProps = {
  visit: MerchantVisit
  dates: ZonedDates
  period: OverviewPeriod
  currency: Currency // of the chart
  overview: Overview
  attention: Attention
}
