import { paidExit } from '../page/exit.ts'
import { Facts } from '../page/facts.tsx'
import { Leave, LeavingSoon } from '../page/leave.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { Say } from '../page/say.tsx'
import { amountOf, linkTo, type View } from '../page/view.ts'

// A receipt, and then the shop.
export const PaidPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const exit = paidExit(checkout)
  const shop = <bdi>{checkout.merchant_name}</bdi>
  return (
    <PaymentPage view={view} title={t.paid.title} exit={exit}>
      <section class="card paid">
        <Tick />
        <h1>{t.paid.title}</h1>
        <p class="amount">{amountOf(view)}</p>
        <p class="muted">
          <Say text={t.paid.to} shop={shop} />
        </p>
        <Facts view={view} />
        <ReceiptGoes view={view} />
      </section>
      <LeavingSoon view={view} exit={exit} />
      <Leave view={view} exit={exit} text={t.paid.back} button />
      <p class="quiet">
        <a href={linkTo(view, '/receipt')}>{view.leaves ? t.paid.stay : t.paid.see}</a>
      </p>
    </PaymentPage>
  )
}

// Only where it really goes: nobody looks in vain for a message that was never sent.
const ReceiptGoes = ({ view: { receiptTo = [], t } }: { view: View }) =>
  receiptTo.length > 0 ? (
    <p class="muted goes">
      <Say text={t.paid.goes} where={<bdi>{new Intl.ListFormat(t.locale).format(receiptTo)}</bdi>} />
    </p>
  ) : null

export const Tick = () => (
  <svg class="tick" width="64" height="64" viewBox="0 0 64 64" aria-hidden="true" focusable="false">
    <circle cx="32" cy="32" r="32" />
    <path d="M19 33l9 9 17-19" />
  </svg>
)
