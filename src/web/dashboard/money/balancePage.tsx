import type { CurrencyBalance, NamedClosingRow } from '../../../actions/money/merchantMoney.ts'
import { fill } from '../../../core/text.ts'
import { ClosingTable } from './closingPage.tsx'
import { MoneyPage, type MoneyView, signedMoney } from './moneyFrame.tsx'
import { moneyTexts } from './moneyTexts.ts'

type BalanceProps = {
  view: MoneyView
  balances: readonly CurrencyBalance[]
  today: readonly NamedClosingRow[]
}

// What is owed to the merchant in each currency, and what was paid today.
export const BalancePage = ({ view, balances, today }: BalanceProps) => {
  const { visit } = view
  const texts = moneyTexts[visit.lang]
  const { balance } = texts
  return (
    <MoneyPage view={view} part="balance" title={texts.title}>
      {balances.length === 0 && <p class="empty">{balance.none}</p>}
      {balances.map(one => (
        <BalanceCards view={view} balance={one} />
      ))}
      {balances.length > 0 && (
        <section class="card" aria-labelledby="today">
          <header>
            <h2 id="today">{balance.today}</h2>
            <a href={`${visit.base}/money/closing`}>{texts.parts.closing}</a>
          </header>
          <ClosingTable view={view} rows={today} />
        </section>
      )}
    </MoneyPage>
  )
}

const BalanceCards = ({ view: { visit }, balance }: { view: MoneyView; balance: CurrencyBalance }) => {
  const texts = moneyTexts[visit.lang].balance
  const { currency, owed, change, refunds, suspense, fees } = balance
  const money = (minor: bigint) => signedMoney(minor, currency, visit.lang)
  const sign = change > 0n ? '+' : ''
  const figures: [label: string, value: string, against: string][] = [
    [texts.owed, money(owed), fill(texts.month, { amount: `${sign}${money(change)}` })],
    [texts.refunds, money(refunds), texts.refundsText],
    [texts.suspense, money(suspense), texts.suspenseText],
    [texts.fees, money(fees), texts.feesText],
  ]
  return (
    <section class="four" aria-label={`${texts.title} ${currency}`}>
      {figures.map(([label, value, against]) => (
        <div class="card figure">
          <p class="label">{label}</p>
          <p class="value">{value}</p>
          <p class="against">{against}</p>
        </div>
      ))}
    </section>
  )
}
