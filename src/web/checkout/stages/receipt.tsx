import { Qr } from '../code/qr.tsx'
import { paidExit } from '../page/exit.ts'
import { Facts } from '../page/facts.tsx'
import { Leave } from '../page/leave.tsx'
import { LineItems } from '../page/lineItems.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { linkTo, partOf, type View } from '../page/view.ts'

const path = '/receipt'

// To keep, on the screen or on paper. It stays where it is: mails and SMS lead here, on any day and any device.
export const ReceiptPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  return (
    <PaymentPage view={view} title={t.receipt.title} path={path}>
      <section class="card receipt">
        <h1>{t.receipt.title}</h1>
        {checkout.mode === 'test' && <p class="stamp">{t.receipt.test}</p>}
        <LineItems view={view} />
        <Facts view={view} whole />
        <Buttons view={view} />
        <Itself view={view} />
      </section>
      <Leave view={view} exit={paidExit(checkout)} text={t.paid.back} />
      <p class="quiet">
        <a href={linkTo(view)}>{t.receipt.back}</a>
      </p>
    </PaymentPage>
  )
}

// For the script, which shows them.
const Buttons = ({ view: { checkout, t } }: { view: View }) => (
  <p class="pair">
    <button
      type="button"
      class="plain"
      data-copy={checkout.tx_reference}
      data-copied={t.receipt.copied}
      hidden
    >
      {t.receipt.copy}
    </button>
    <button type="button" class="plain" data-print hidden>
      {t.receipt.print}
    </button>
  </p>
)

// On paper it leads back to the page, which cannot be forged.
const Itself = ({ view }: { view: View }) => (
  <div class="itself">
    <Qr text={view.baseUrl + partOf({ ...view, asked: undefined }, path)} title={view.t.receipt.scan} />
    <p class="muted" aria-hidden="true">
      {view.t.receipt.scan}
    </p>
  </div>
)
