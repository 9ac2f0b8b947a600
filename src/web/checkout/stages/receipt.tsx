import { Facts } from '../page/facts.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { linkTo, type View } from '../page/view.ts'

// To keep, on the screen or on paper. It stays where it is.
export const ReceiptPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  return (
    <PaymentPage view={view} title={t.receipt.title} path="/receipt">
      <section class="card">
        <h1>{t.receipt.title}</h1>
        {checkout.mode === 'test' && <p class="stamp">{t.receipt.test}</p>}
        <Facts view={view} whole />
      </section>
      <p>
        <button type="button" data-print hidden>
          {t.receipt.print}
        </button>
      </p>
      <p class="quiet">
        <a href={linkTo(view)}>{t.receipt.back}</a>
      </p>
    </PaymentPage>
  )
}
