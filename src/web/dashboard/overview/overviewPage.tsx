import { overviewPeriods } from '../../../core/overview/figures.ts'
import { moneyText, withoutControls } from '../../../core/timeline/history.ts'
import { MerchantPage } from '../frame/frame.tsx'
import type { ZonedDates } from '../frame/zonedDates.ts'
import { frameTexts } from '../frame/frameTexts.ts'
import type { MerchantVisit } from '../route.ts'
import { Pill, type PillTone } from '../../pages/operatorPage.tsx'
import type { Payment, Status } from '../../../core/payment/payment.ts'
import { NeedsAttention } from './needsAttention.tsx'
import { FailureReasons, MethodCard, MethodTag, OutletCard, SlotChart } from './overviewCards.tsx'
import { KeyFigures } from './keyFigures.tsx'
import { sideNote } from '../payments/listPage.tsx'
import type { OverviewProps } from './overviewProps.ts'
import { overviewTexts } from './overviewTexts.ts'

export const OverviewPage = (props: OverviewProps) => {
  const { visit, dates, period, currency, overview } = props
  const texts = overviewTexts[visit.lang]
  const to = texts.to.replace('{day}', dates.longDay(visit.now)).replace('{time}', dates.time(visit.now))
  return (
    <MerchantPage visit={visit} title={texts.title} place="overview">
      <div class="title">
        <h1>{texts.title}</h1>
        <span class="muted only-d small">{to}</span>
        <nav class="switch periods" aria-label={texts.span}>
          {overviewPeriods.map(one => (
            <a
              href={`${visit.base}${one === 'day' ? '' : `?period=${one}`}`}
              aria-current={one === period ? 'true' : undefined}
            >
              {texts.periods[one]}
            </a>
          ))}
        </nav>
      </div>
      <NeedsAttention {...props} />
      <KeyFigures {...props} />
      <CurrencyLinks visit={visit} period={period} currency={currency} overview={overview} />
      <div class="two">
        <SlotChart {...props} />
        <MethodCard {...props} />
      </div>
      <div class="two">
        <LatestPayments {...props} />
        <div class="side-cards">
          <FailureReasons {...props} />
          <OutletCard {...props} />
        </div>
      </div>
      <p class="muted tiny">{texts.basis}</p>
    </MerchantPage>
  )
}

// The chart is about one currency.
const CurrencyLinks = ({
  visit,
  period,
  currency,
  overview: { figures, figuresBefore },
}: Pick<OverviewProps, 'visit' | 'period' | 'currency' | 'overview'>) => {
  const currencies = [...new Set([...figures.paid.keys(), ...figuresBefore.paid.keys()])].sort()
  if (currencies.length < 2) return undefined
  return (
    <nav class="switch" aria-label={overviewTexts[visit.lang].currency}>
      {currencies.map(one => (
        <a
          href={`${visit.base}?period=${period}&currency=${one}`}
          aria-current={one === currency ? 'true' : undefined}
        >
          {one}
        </a>
      ))}
    </nav>
  )
}

const tones: Record<Status, PillTone> = {
  paid: 'ok',
  failed: 'bad',
  cancelled: 'off',
  awaiting_payment: 'wait',
}

const LatestPayments = ({
  visit,
  dates,
  overview: { latest, unacknowledged, outletNames },
}: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const { columns } = texts
  return (
    <section class="card" aria-labelledby="latest">
      <header>
        <h2 id="latest">{texts.latest}</h2>
        <a href={`${visit.base}/payments`}>{texts.all}</a>
      </header>
      <table class="fold latest">
        <thead>
          <tr>
            <th>{columns.time}</th>
            <th>{columns.invoice}</th>
            <th>{texts.method}</th>
            <th>{texts.outlet}</th>
            <th class="r">{columns.amount}</th>
            <th>{columns.status}</th>
          </tr>
        </thead>
        <tbody>
          {latest.map(payment => (
            <tr>
              <td class="num">{shortMoment(payment.created_at, visit, dates)}</td>
              <td class="invoice">
                <a href={`${visit.base}/payments/${payment.tx_reference}`}>
                  {withoutControls(payment.invoice_id)}
                </a>
              </td>
              <td>
                <span class="method">
                  <PaymentMethodOf payment={payment} />
                  <span class="only-p muted num">{shortMoment(payment.created_at, visit, dates)}</span>
                </span>
              </td>
              <td class="outlet">{payment.outlet && (outletNames.get(payment.outlet) ?? payment.outlet)}</td>
              <td class="r">{moneyText(payment.currency, payment.total)}</td>
              <td>
                <span class="state">
                  <Pill tone={tones[payment.status]}>{texts.statuses[payment.status]}</Pill>
                  <span class="why">
                    {sideNote(visit, payment, unacknowledged.has(payment.tx_reference))}
                  </span>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const PaymentMethodOf = ({ payment: { payment_method } }: { payment: Payment }) =>
  payment_method ? <MethodTag method={payment_method} hasName /> : undefined

const shortMoment = (at: Date, { now }: MerchantVisit, dates: ZonedDates) =>
  dates.iso(at) === dates.iso(now) ? dates.time(at) : dates.moment(at)

// A merchant without payments: what to do first.
export const EmptyOverviewPage = ({ visit }: { visit: MerchantVisit }) => {
  const { title, empty } = overviewTexts[visit.lang]
  return (
    <MerchantPage visit={visit} title={title} place="overview">
      <div class="title">
        <h1>{title}</h1>
      </div>
      <section class="empty first-steps">
        <h2>{empty.title}</h2>
        <p>{empty.text}</p>
        <p class="row">
          {visit.may('take.payment') && (
            <a class="btn" href={`${visit.base}/take`}>
              {frameTexts[visit.lang].places.take}
            </a>
          )}
          <a class="btn plain" href="/docs">
            {empty.docs}
          </a>
        </p>
      </section>
    </MerchantPage>
  )
}
