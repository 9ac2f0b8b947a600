import type { Transfer } from '../../../core/ledger/transfer.ts'
import { figureIn } from '../../../core/money.ts'
import { fill } from '../../../core/text.ts'
import { localTime } from '../../../core/zone.ts'
import { SmallIcon } from '../frame/icons.tsx'
import { moneyTexts } from '../money/moneyTexts.ts'
import { Clock, dayOf, type PaymentPageProps } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'

// The transfers of this payment, and what of it is the merchant's.
export const LedgerCard = (props: PaymentPageProps) => {
  const { visit, details, timeZone } = props
  const texts = paymentTexts[visit.lang]
  const { kinds } = moneyTexts[visit.lang]
  const { transfers, explained } = details
  const { currency } = explained.payment
  const own = transfers.filter(transfer => transfer.currency === currency)
  const sum = own.reduce((total, transfer) => total + shareOf(transfer), 0n)
  return (
    <section class="card">
      <header>
        <h2>{texts.ledger}</h2>
        {transfers.length > 0 && (
          <span class="small muted seal">
            <SmallIcon path="M5 9h10v8H5zM7 9V6a3 3 0 0 1 6 0v3" />
            {details.nextSealAt
              ? fill(texts.nextSeal, { time: localTime(details.nextSealAt, timeZone).time.slice(0, 5) })
              : texts.sealed}
          </span>
        )}
      </header>
      {transfers.length === 0 ? (
        <p class="empty">{texts.noLedger}</p>
      ) : (
        <table class="fold ledger">
          <thead>
            <tr>
              <th>{texts.time}</th>
              <th>{texts.from}</th>
              <th>{texts.to}</th>
              <th>{texts.for}</th>
              <th class="r">{texts.amount}</th>
            </tr>
          </thead>
          <tbody>
            {transfers.map(transfer => (
              <tr>
                <td class="num nowrap">
                  <Clock at={transfer.created_at} day={dayOf(props)} visit={visit} timeZone={timeZone} />
                </td>
                <td>{accountName(props, transfer.debit_account)}</td>
                <td>{accountName(props, transfer.credit_account)}</td>
                <td>{kinds[transfer.kind]}</td>
                <td class="r">
                  <span class="cur">{transfer.currency}</span> {figureIn(transfer.amount, transfer.currency)}
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colspan={4}>
                <b>{texts.yours}</b>
              </td>
              <td class="r">
                <span class="cur">{currency}</span>{' '}
                <b>
                  {sum < 0n && '−'}
                  {figureIn(sum < 0n ? -sum : sum, currency)}
                </b>
              </td>
            </tr>
          </tfoot>
        </table>
      )}
    </section>
  )
}

// A transfer credits the account that gives and debits the account that gains; the merchant's account is what we owe.
const shareOf = ({ debit_account, credit_account, amount }: Transfer) =>
  (credit_account === 'merchant' ? amount : 0n) - (debit_account === 'merchant' ? amount : 0n)

function accountName({ visit }: PaymentPageProps, account: string): string {
  if (account === 'merchant') return visit.merchant.name
  const names: Readonly<Record<string, string>> = paymentTexts[visit.lang].ledgerAccounts
  return names[account] ?? account.replace(/^provider:/, '').replaceAll('_', ' ')
}
