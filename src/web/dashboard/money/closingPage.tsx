import type { NamedClosingRow } from '../../../actions/money/merchantMoney.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { fill } from '../../../core/text.ts'
import { BookedNote, MoneyPage, type MoneyView, signedMoney } from './moneyFrame.tsx'
import { type DayRange, isoDay, maxClosingDays } from './moneyPeriod.ts'
import { moneyTexts } from './moneyTexts.ts'

type ClosingProps = {
  view: MoneyView
  range: DayRange & { isWrong: boolean }
  rows: readonly NamedClosingRow[]
}

// One day, by outlet and payment method. It is made to be printed.
export const ClosingPage = ({ view, range, rows }: ClosingProps) => {
  const { visit, dates, zone } = view
  const { now, lang, base } = visit
  const texts = moneyTexts[lang]
  const { closing } = texts
  const day = (at: Date) => `${base}/money/closing?day=${isoDay(at, zone)}`
  const before = new Date(range.from.getTime() - 1)
  return (
    <MoneyPage view={view} part="closing" title={texts.parts.closing}>
      <form method="get" action={`${base}/money/closing`} class="row period">
        <a class="btn plain small" href={day(before)}>
          {closing.before}
        </a>
        <label class="day-field">
          {closing.day} <input class="input" type="date" name="day" value={range.first} required />
        </label>
        <button type="submit" class="btn plain small">
          {texts.period.show}
        </button>
        {range.until <= now && (
          <a class="btn plain small" href={day(range.until)}>
            {closing.after}
          </a>
        )}
        {range.isWrong && (
          <p class="fault" role="alert">
            {fill(texts.period.fault, { days: String(maxClosingDays) })}
          </p>
        )}
      </form>
      <section class="card" aria-labelledby="closing">
        <header>
          <h2 id="closing">
            {fill(closing.of, { day: dates.fullDate(range.from) })}
            <span class="only-print">, {visit.merchant.name}</span>
          </h2>
        </header>
        {range.until > now && <p class="muted small">{fill(closing.soFar, { time: dates.time(now) })}</p>}
        <ClosingTable view={view} rows={rows} />
        {rows.some(({ other }) => other !== 0n) && <p class="muted tiny">{closing.otherText}</p>}
      </section>
      {visit.may('money.export') && <ClosingExport view={view} day={range.first} />}
      <p class="muted tiny no-print">{closing.print}</p>
      <BookedNote view={view} />
    </MoneyPage>
  )
}

const ClosingExport = ({ view: { visit }, day }: { view: MoneyView; day: string }) => {
  const { closing, period, csv } = moneyTexts[visit.lang]
  return (
    <form method="get" action={`${visit.base}/money/closing.csv`} class="row period no-print">
      <b>{closing.range}</b>
      <label class="day-field">
        {period.from} <input class="input" type="date" name="from" value={day} required />
      </label>
      <label class="day-field">
        {period.to} <input class="input" type="date" name="to" value={day} required />
      </label>
      <button type="submit" class="btn plain small">
        {csv}
      </button>
    </form>
  )
}

const sumColumns = ['gross', 'fees', 'refunds', 'disputes', 'other', 'net'] as const

export const ClosingTable = ({
  view: { visit },
  rows,
}: {
  view: MoneyView
  rows: readonly NamedClosingRow[]
}) => {
  const { closing } = moneyTexts[visit.lang]
  if (rows.length === 0) return <p class="empty">{closing.none}</p>
  const columns = sumColumns.filter(
    name => !['disputes', 'other'].includes(name) || rows.some(row => row[name] !== 0n),
  )
  return (
    <div class="wide-table" tabindex={0} role="region" aria-label={closing.title}>
      <table class="closing">
        <thead>
          <tr>
            <th scope="col">{closing.outlet}</th>
            <th scope="col">{closing.method}</th>
            <th scope="col" class="r">
              {closing.payments}
            </th>
            {columns.map(name => (
              <th scope="col" class="r">
                {closing[name]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr>
              <td>{row.outlet ? (row.outlet_name ?? row.outlet) : closing.noOutlet}</td>
              <td>{row.payment_method && paymentMethodName(row.payment_method)}</td>
              <td class="r">{row.payments}</td>
              {columns.map(name => (
                <td class="r">{signedMoney(row[name], row.currency, visit.lang)}</td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          {closingTotals(rows).map(total => (
            <tr>
              <th scope="row" colspan={2}>
                {closing.total} {total.currency}
              </th>
              <td class="r">{total.payments}</td>
              {columns.map(name => (
                <td class="r">{signedMoney(total[name], total.currency, visit.lang)}</td>
              ))}
            </tr>
          ))}
        </tfoot>
      </table>
    </div>
  )
}

type Total = Pick<NamedClosingRow, 'currency' | 'payments' | (typeof sumColumns)[number]>

// By currency: amounts of two currencies do not add up.
function closingTotals(rows: readonly NamedClosingRow[]): Total[] {
  const totals = new Map<string, Total>()
  for (const row of rows) {
    const { currency } = row
    const none = { currency, payments: 0, gross: 0n, fees: 0n, refunds: 0n, disputes: 0n, other: 0n, net: 0n }
    const sum = totals.get(currency) ?? none
    totals.set(currency, {
      currency,
      payments: sum.payments + row.payments,
      gross: sum.gross + row.gross,
      fees: sum.fees + row.fees,
      refunds: sum.refunds + row.refunds,
      disputes: sum.disputes + row.disputes,
      other: sum.other + row.other,
      net: sum.net + row.net,
    })
  }
  return [...totals.values()]
}
