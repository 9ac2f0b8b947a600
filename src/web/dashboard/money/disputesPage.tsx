import type { disputeList, reversalList } from '../../../actions/money/merchantMoney.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { Pill } from '../../pages/operatorPage.tsx'
import { ListPager, MoneyPage, type MoneyView, signedMoney } from './moneyFrame.tsx'
import { moneyTexts } from './moneyTexts.ts'

export type MoneyBackRows = {
  kind: 'disputes' | 'open' | 'reversals'
  disputes: Awaited<ReturnType<typeof disputeList>>
  reversals: Awaited<ReturnType<typeof reversalList>>
  next: string | undefined // the query of the next page
  isFirst: boolean
}

// Money that went back without a refund: disputes and reversals.
export const DisputesPage = ({ view, rows }: { view: MoneyView; rows: MoneyBackRows }) => {
  const { visit } = view
  const { parts, disputes: texts } = moneyTexts[visit.lang]
  const address = `${visit.base}/money/disputes?kind=`
  const { kind, disputes, reversals, next, isFirst } = rows
  const kinds = [
    ['disputes', texts.all],
    ['open', texts.open],
    ['reversals', texts.reversals],
  ] as const
  return (
    <MoneyPage view={view} part="disputes" title={parts.disputes}>
      <section class="card" aria-label={parts.disputes}>
        <nav class="row" aria-label={texts.state}>
          {kinds.map(([one, text]) => (
            <a
              class={one === kind ? 'chip on' : 'chip'}
              href={`${address}${one}`}
              aria-current={one === kind ? 'true' : undefined}
            >
              {text}
            </a>
          ))}
        </nav>
        <p class="small">{kind === 'reversals' ? texts.reversalText : texts.text}</p>
        {disputes.length + reversals.length === 0 && <p class="empty">{texts.none}</p>}
        {disputes.length > 0 && <DisputeTable view={view} disputes={disputes} />}
        {reversals.length > 0 && <ReversalTable view={view} reversals={reversals} />}
        <ListPager
          first={isFirst ? undefined : { href: `${address}${kind}`, text: texts.newest }}
          next={next ? { href: `${address}${kind}&${next}`, text: texts.older } : undefined}
        />
      </section>
    </MoneyPage>
  )
}

type DisputeProps = { view: MoneyView; disputes: MoneyBackRows['disputes'] }

const DisputeTable = ({ view: { visit, dates }, disputes }: DisputeProps) => {
  const { disputes: texts, refunds } = moneyTexts[visit.lang]
  return (
    <table class="fold disputes">
      <thead>
        <tr>
          <th scope="col">{texts.opened}</th>
          <th scope="col">{refunds.invoice}</th>
          <th scope="col">{refunds.reason}</th>
          <th scope="col">{texts.due}</th>
          <th scope="col" class="r">
            {refunds.amount}
          </th>
          <th scope="col">{texts.state}</th>
        </tr>
      </thead>
      <tbody>
        {disputes.map(one => (
          <tr>
            <td class="num muted">{dates.moment(one.opened_at)}</td>
            <td>
              <a href={`${visit.base}/payments/${one.tx_reference}`}>{withoutControls(one.invoice_id)}</a>
            </td>
            <td class="small">{storedText(withoutControls(one.reason), visit.lang)}</td>
            <td class="num">{one.due_at && dates.date(one.due_at)}</td>
            <td class="r">{signedMoney(one.amount, one.currency, visit.lang)}</td>
            <td>
              <Pill tone={one.state === 'open' ? 'wait' : one.state === 'won' ? 'ok' : 'bad'}>
                {texts.states[one.state]}
              </Pill>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type ReversalProps = { view: MoneyView; reversals: MoneyBackRows['reversals'] }

const ReversalTable = ({ view: { visit, dates }, reversals }: ReversalProps) => {
  const { refunds } = moneyTexts[visit.lang]
  return (
    <table class="fold disputes">
      <thead>
        <tr>
          <th scope="col">{refunds.time}</th>
          <th scope="col">{refunds.invoice}</th>
          <th scope="col">{refunds.reason}</th>
          <th scope="col" class="r">
            {refunds.amount}
          </th>
        </tr>
      </thead>
      <tbody>
        {reversals.map(one => (
          <tr>
            <td class="num muted">{dates.moment(one.reversed_at)}</td>
            <td>
              <a href={`${visit.base}/payments/${one.tx_reference}`}>{withoutControls(one.invoice_id)}</a>
            </td>
            <td class="small">{storedText(withoutControls(one.reason), visit.lang)}</td>
            <td class="r">{signedMoney(one.amount, one.currency, visit.lang)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
