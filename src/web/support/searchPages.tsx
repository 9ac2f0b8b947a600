import type { SearchResults } from '../../actions/payments/searchPayments.ts'
import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { Icon, NoticeCard } from '../../core/markup/page.tsx'
import { maskEmail, maskPhone } from '../../core/mask.ts'
import type { Payment, Status } from '../../core/payment/payment.ts'
import { paymentMethodName } from '../../core/provider/paymentMethod.ts'
import { moneyText } from '../../core/timeline/history.ts'
import { Time } from '../pages/operatorPage.tsx'
import { SupportPage } from './pages.tsx'

export type NamedPayment = Payment & { merchant_name: string }

// The first page: the search, and below it the newest payments of all merchants.
export const SearchPage = ({ latest }: { latest: readonly NamedPayment[] }) => (
  <SupportPage title="Look up a payment">
    {latest.length === 0 ? (
      <NoticeCard title="Why does a payment have its status?">
        <p>
          There is no payment yet. When there is one, you see here what happened, who reported it, and what
          happens next.
        </p>
        <InboxLink />
      </NoticeCard>
    ) : (
      <section class="card">
        <h1>Latest payments</h1>
        <PaymentTable payments={latest} />
        <InboxLink />
      </section>
    )}
  </SupportPage>
)

const InboxLink = () => (
  <p>
    <a class="more" href="/inbox">
      Mails and SMS to customers
    </a>
  </p>
)

type ResultsProps = { query: string; payments: readonly NamedPayment[] } & Pick<SearchResults, 'more'>

export const SearchResultsPage = ({ query, payments, more }: ResultsProps) => (
  <SupportPage title="Which payment?" query={query}>
    <section class="card">
      <h1>
        {more ? `The newest ${payments.length} payments` : `${payments.length} payments`} for {query}
      </h1>
      <PaymentTable payments={payments} />
      {more && (
        <p class="muted">There are older ones. Search for an invoice id or a reference to see one of them.</p>
      )}
    </section>
  </SupportPage>
)

const PaymentTable = ({ payments }: { payments: readonly NamedPayment[] }) => (
  <table class="fold">
    <thead>
      <tr>
        <th>Invoice</th>
        <th class="r">Amount</th>
        <th>Shop</th>
        <th>Status</th>
        <th>Customer</th>
        <th>Time</th>
      </tr>
    </thead>
    <tbody>
      {payments.map(payment => (
        <tr>
          <td>
            <a href={`/support?${addressOf(payment)}`}>{payment.invoice_id}</a>
          </td>
          <td class="r">{moneyText(payment.currency, payment.total)}</td>
          <td>
            {payment.merchant_name}
            {payment.mode === 'test' && <span class="muted"> (test)</span>}
          </td>
          <td>
            <StatusPill status={payment.status} />
          </td>
          <td class="muted">{customerOf(payment)}</td>
          <td class="muted">
            <Time at={payment.created_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const addressOf = ({ tx_reference, merchant_id }: Payment) =>
  new URLSearchParams({ q: tx_reference, merchant: merchant_id }).toString()

// Masked, as everywhere: whoever searched for a number knows it already.
function customerOf({ number, email, payment_method }: Payment): string {
  const contact = number ? maskPhone(number) : email ? maskEmail(email) : ''
  return [contact, payment_method ? paymentMethodName(payment_method) : ''].filter(Boolean).join(', ')
}

const pills = {
  awaiting_payment: ['wait', undefined, 'Awaiting payment'],
  paid: ['ok', 'check', 'Paid'],
  cancelled: ['', 'cross', 'Cancelled'],
  failed: ['bad', 'cross', 'Failed'],
} as const satisfies Record<Status, readonly [string, string | undefined, string]>

const StatusPill = ({ status }: { status: Status }) => {
  const [tone, icon, word] = pills[status]
  return (
    <Pill tone={tone}>
      {icon ? <Icon name={icon} /> : <span aria-hidden="true">…</span>}
      {word}
    </Pill>
  )
}

const Pill = ({ tone, children }: PropsWithChildren<{ tone: string }>) => (
  <span class={tone ? `pill ${tone}` : 'pill'}>{children}</span>
)
