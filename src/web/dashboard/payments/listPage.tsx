import type { PaymentPage } from '../../../actions/payments/merchantPayments.ts'
import { maskEmail, maskName, maskPhone } from '../../../core/mask.ts'
import { figureIn } from '../../../core/money.ts'
import { filterQuery, isFiltered, type ListFilter } from '../../../core/payment/listFilter.ts'
import type { Payment, Status } from '../../../core/payment/payment.ts'
import { timeOfReference } from '../../../core/payment/reference.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { moneyText, withoutControls } from '../../../core/timeline/history.ts'
import { fill } from '../../../core/text.ts'
import { localTime } from '../../../core/zone.ts'
import { Pill, type PillTone } from '../../pages/operatorPage.tsx'
import { MerchantPage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { SmallIcon } from '../frame/icons.tsx'
import type { MerchantVisit } from '../route.ts'
import { FilterBar, type FilterChoices, shortDay } from './filterBar.tsx'
import { failureText } from './failureTexts.ts'
import { paymentsTexts } from './paymentsTexts.ts'
import { spanText } from './spanText.ts'

type ListProps = {
  visit: MerchantVisit
  filter: ListFilter
  choices: FilterChoices
  page: PaymentPage
  going: 'older' | 'newer'
}

// The search, the filters, and one page of payments.
export const PaymentsPage = (props: ListProps) => {
  const { visit, filter, choices, page } = props
  const texts = paymentsTexts[visit.lang]
  return (
    <MerchantPage visit={visit} title={texts.title} place="payments">
      <div class="title">
        <h1>{texts.title}</h1>
        {visit.may('payments.export') && (
          <a class="btn plain small" href={`${visit.base}/payments.csv?${filterQuery(filter)}`}>
            <SmallIcon path="M10 3v9M6 8.500l4 4 4-4M3.500 16.500h13" />
            {texts.exportCsv}
          </a>
        )}
        {visit.may('take.payment') && (
          <a class="btn small only-d" href={`${visit.base}/take`}>
            <SmallIcon path="M10 4v12M4 10h12" />
            {texts.take}
          </a>
        )}
      </div>
      <FilterBar visit={visit} filter={filter} choices={choices} />
      <section class="card list" aria-label={texts.title}>
        {page.payments.length > 0 && <PaymentTable {...props} />}
        {page.payments.length === 0 && page.readTo === undefined && (
          <NoPayments visit={visit} filter={filter} />
        )}
        {page.readTo !== undefined && <ReadSoFar {...props} readTo={page.readTo} />}
        {(page.payments.length > 0 || page.hasNewer) && <Pager {...props} />}
      </section>
    </MerchantPage>
  )
}

const PaymentTable = ({ visit, choices, page: { payments, unacknowledged } }: ListProps) => {
  const { columns } = paymentsTexts[visit.lang]
  return (
    <table class="fold payments">
      <thead>
        <tr>
          <th>{columns.time}</th>
          <th>{columns.invoice}</th>
          <th>{columns.customer}</th>
          <th>{columns.method}</th>
          {choices.outlets.size > 0 && <th>{columns.outlet}</th>}
          <th class="r">{columns.amount}</th>
          <th>{columns.status}</th>
        </tr>
      </thead>
      <tbody>
        {payments.map(payment => (
          <PaymentRow
            visit={visit}
            payment={payment}
            choices={choices}
            isUnacknowledged={unacknowledged.has(payment.tx_reference)}
          />
        ))}
      </tbody>
    </table>
  )
}

type RowProps = {
  visit: MerchantVisit
  payment: Payment
  choices: FilterChoices
  isUnacknowledged: boolean
}

const PaymentRow = ({ visit, payment, choices: { outlets, timeZone }, isUnacknowledged }: RowProps) => {
  const { currency, total, payment_method, outlet } = payment
  return (
    <tr>
      <td class="num muted time">
        <ListTime at={payment.created_at} visit={visit} timeZone={timeZone} />
      </td>
      <td class="invoice">
        <a href={`${visit.base}/payments/${payment.tx_reference}`}>{withoutControls(payment.invoice_id)}</a>
      </td>
      <td class="num customer">{customerOf(payment)}</td>
      <td class="by">{payment_method && <MethodName method={payment_method} />}</td>
      {outlets.size > 0 && <td class="outlet">{outlet && (outlets.get(outlet) ?? outlet)}</td>}
      <td class="r sum">
        <span class="cur">{currency}</span> {figureIn(total, currency)}
      </td>
      <td class="status">
        <span class="state">
          <StatusPill visit={visit} status={payment.status} />
          <span class="why">{sideNote(visit, payment, isUnacknowledged)}</span>
        </span>
      </td>
    </tr>
  )
}

// Today only the time, else the day, too.
const ListTime = ({ at, visit, timeZone }: { at: Date; visit: MerchantVisit; timeZone: string }) => {
  const { day, time } = localTime(at, timeZone)
  const today = localTime(visit.now, timeZone).day
  const text =
    day === today
      ? time
      : `${shortDay(day, visit.lang, day.slice(0, 4) !== today.slice(0, 4))}, ${time.slice(0, 5)}`
  return <time datetime={at.toISOString()}>{text}</time>
}

const customerOf = ({ number, pymt_instrument, email, name }: Payment) => {
  const phone = number ?? pymt_instrument
  if (phone) return maskPhone(phone)
  if (email) return maskEmail(email)
  return name ? maskName(name) : ''
}

const badges: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  mtn_mobile_money: ['mtn', 'MTN'],
  telecel_cash: ['tel', 'T'],
  airteltigo_money: ['at', 'AT'],
  card: ['card-m', 'Card'],
  ghqr: ['', 'QR'],
}

export const MethodName = ({ method }: { method: string }) => {
  const [tone, letters] = badges[method] ?? ['', '']
  return (
    <span class="method">
      {letters && (
        <span class={`badge ${tone}`} aria-hidden="true">
          {letters}
        </span>
      )}
      {paymentMethodName(method)}
    </span>
  )
}

const tones: Record<Status, PillTone> = {
  awaiting_payment: 'wait',
  paid: 'ok',
  cancelled: 'off',
  failed: 'bad',
}

export const StatusPill = ({ visit, status }: { visit: MerchantVisit; status: Status }) => (
  <Pill tone={tones[status]}>{paymentsTexts[visit.lang].statuses[status]}</Pill>
)

const maxNote = 60

// The text beside the status: what was refunded, that the shop has not acknowledged the notification, why the payment
// failed, or how long it can still be paid.
export function sideNote(
  { lang, now }: Pick<MerchantVisit, 'lang' | 'now'>,
  payment: Payment,
  isUnacknowledged: boolean,
): string {
  const texts = paymentsTexts[lang]
  const { status, status_reason, currency, late, refunded_amount, reversed_amount, expires_at } = payment
  const back = (refunded_amount ?? 0n) + (reversed_amount ?? 0n)
  if (back > 0n) return fill(texts.refunded, { money: moneyText(currency, back) })
  if (isUnacknowledged) return texts.notAcknowledged
  if (status === 'paid') return late ? texts.late : ''
  if (status === 'awaiting_payment')
    return expires_at > now
      ? fill(texts.left, { span: spanText(lang, expires_at.getTime() - now.getTime()) })
      : texts.expired
  const reason = failureText(status_reason, lang)
  return reason.length > maxNote ? `${reason.slice(0, maxNote)}…` : reason
}

const NoPayments = ({ visit, filter }: { visit: MerchantVisit; filter: ListFilter }) => {
  const texts = paymentsTexts[visit.lang]
  const { test, live } = frameTexts[visit.lang]
  if (isFiltered(filter))
    return (
      <div class="empty">
        <span>{texts.noMatch}</span>
        <a class="btn plain small" href={`${visit.base}/payments`}>
          {texts.showAll}
        </a>
      </div>
    )
  return (
    <div class="empty">
      <span>
        {texts.noPayments} {fill(texts.noneInMode, { mode: visit.mode === 'test' ? test : live })}
      </span>
    </div>
  )
}

// The bound of one search: what was read, and how to go on.
const ReadSoFar = ({ visit, filter, choices, page, going, readTo }: ListProps & { readTo: string }) => {
  const texts = paymentsTexts[visit.lang]
  const { day, time } = localTime(timeOfReference(readTo), choices.timeZone)
  const at = `${shortDay(day, visit.lang, true)}, ${time.slice(0, 5)}`
  const isPaidOnly = filter.statuses.length === 1 && filter.statuses[0] === 'paid'
  const go: Record<string, string> = going === 'older' ? { before: readTo } : { after: readTo }
  return (
    <div class="empty read-so-far">
      <span>{fill(going === 'older' ? texts.readTo : texts.readFrom, { time: at })}</span>
      {page.isByValue && !isPaidOnly && (
        <a
          class="btn plain small"
          href={`${visit.base}/payments?${filterQuery({ ...filter, statuses: ['paid'] })}`}
        >
          {texts.paidOnly}
        </a>
      )}
      <a class="btn plain small" href={`${visit.base}/payments?${filterQuery(filter, go)}`}>
        {texts.goOn}
      </a>
    </div>
  )
}

const Pager = ({ visit, filter, choices: { timeZone }, page }: ListProps) => {
  const texts = paymentsTexts[visit.lang]
  const [first, last] = [page.payments[0], page.payments.at(-1)]
  const today = localTime(visit.now, timeZone).day
  const shown = (at: Date) => {
    const { day, time } = localTime(at, timeZone)
    return day === today ? time.slice(0, 5) : `${shortDay(day, visit.lang)}, ${time.slice(0, 5)}`
  }
  const href = (more: Record<string, string>) => `${visit.base}/payments?${filterQuery(filter, more)}`
  return (
    <nav class="pager" aria-label={texts.title}>
      <span class="small muted">
        {first && last && fill(texts.range, { from: shown(first.created_at), to: shown(last.created_at) })}
      </span>
      {!page.hasNewer && page.hasOlder && (
        <span class="btn plain small" aria-disabled="true">
          <SideArrow to="left" />
          {texts.newer}
        </span>
      )}
      {page.hasNewer && first ? (
        <a class="btn plain small" href={href({ after: first.tx_reference })} rel="prev">
          <SideArrow to="left" />
          {texts.newer}
        </a>
      ) : (
        page.hasNewer && (
          <a class="btn plain small" href={href({})}>
            {texts.newer}
          </a>
        )
      )}
      {page.hasOlder && last && (
        <a class="btn plain small" href={href({ before: last.tx_reference })} rel="next">
          {texts.older}
          <SideArrow to="right" />
        </a>
      )}
    </nav>
  )
}

const SideArrow = ({ to }: { to: 'left' | 'right' }) => (
  <SmallIcon path={to === 'left' ? 'M12.500 5l-5 5 5 5' : 'M7.500 5l5 5-5 5'} />
)
