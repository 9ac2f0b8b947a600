import type { StatementPage } from '../../../actions/money/merchantMoney.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { BookedNote, ListPager, MoneyPage, type MoneyView, PeriodForm, signedMoney } from './moneyFrame.tsx'
import type { DayRange } from './moneyPeriod.ts'
import { moneyTexts } from './moneyTexts.ts'

type StatementProps = {
  view: MoneyView
  range: DayRange & { isWrong: boolean }
  page: StatementPage
  isFirst: boolean
}

// What changed the balance in a period, in the order of its booking.
export const MoneyStatementPage = ({ view, range, page, isFirst }: StatementProps) => {
  const { visit } = view
  const texts = moneyTexts[visit.lang]
  const { statement } = texts
  const address = `${visit.base}/money/statement?from=${range.first}&to=${range.last}`
  const { lines, next } = page
  return (
    <MoneyPage view={view} part="statement" title={texts.parts.statement}>
      <PeriodForm view={view} path="/money/statement" range={range} maxDays={366} />
      <section class="card" aria-labelledby="statement">
        <header>
          <h2 id="statement">{statement.title}</h2>
          {visit.may('money.export') && (
            <a href={`${visit.base}/money/statement.csv?from=${range.first}&to=${range.last}`}>{texts.csv}</a>
          )}
        </header>
        <Sums view={view} label={statement.opening} sums={page.opening} />
        {lines.length === 0 ? <p class="empty">{statement.none}</p> : <Lines view={view} page={page} />}
        {lines.length > 0 && <Sums view={view} label={statement.closing} sums={page.closing} />}
        <ListPager
          first={isFirst ? undefined : { href: address, text: statement.first }}
          next={
            next ? { href: `${address}&after=${encodeURIComponent(next)}`, text: statement.next } : undefined
          }
        />
      </section>
      <BookedNote view={view} />
    </MoneyPage>
  )
}

type SumsProps = { view: MoneyView; label: string; sums: StatementPage['opening'] }

const Sums = ({ view: { visit }, label, sums }: SumsProps) =>
  sums.size > 0 && (
    <p class="small sums">
      {label}:{' '}
      <b class="num">
        {[...sums].map(([currency, sum]) => signedMoney(sum, currency, visit.lang)).join(', ')}
      </b>
    </p>
  )

const Lines = ({ view: { visit, dates }, page }: { view: MoneyView; page: StatementPage }) => {
  const { statement, kinds } = moneyTexts[visit.lang]
  return (
    <table class="fold statement">
      <thead>
        <tr>
          <th scope="col">{statement.time}</th>
          <th scope="col">{statement.what}</th>
          <th scope="col">{statement.invoice}</th>
          <th scope="col" class="r">
            {statement.amount}
          </th>
          <th scope="col" class="r">
            {statement.balance}
          </th>
        </tr>
      </thead>
      <tbody>
        {page.lines.map(line => (
          <tr>
            <td class="num muted at">{dates.moment(line.created_at)}</td>
            <td class="what">{kinds[line.kind]}</td>
            <td class="invoice">
              {line.tx_reference && (
                <a href={`${visit.base}/payments/${line.tx_reference}`}>
                  {withoutControls(line.invoice_id ?? line.tx_reference)}
                </a>
              )}
            </td>
            <td class="r sum">{signedMoney(line.moved, line.currency, visit.lang)}</td>
            <td class="r balance muted">{signedMoney(line.balance, line.currency, visit.lang)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
