import { isUnresolved } from '../../../core/payment/attempt.ts'
import { FormToken } from '../../http/formToken.tsx'
import { cancelledExit } from '../page/exit.ts'
import { Leave, LeavingSoon } from '../page/leave.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { Say } from '../page/say.tsx'
import { linkTo, type View } from '../page/view.ts'

const pollSeconds = 5

// Asks once.
export const CancelPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const text = checkout.attempts.some(isUnresolved) ? t.cancel.unresolved : t.cancel.words
  return (
    <PaymentPage view={view} title={t.cancel.title} path="/cancel">
      <section class="card">
        <h1>{t.cancel.title}</h1>
        <p>
          <Say text={text} shop={<bdi>{checkout.merchant_name}</bdi>} />
        </p>
      </section>
      <form method="post" action={linkTo(view, '/cancel')} data-busy={t.frame.one_moment}>
        <FormToken token={view.formToken} />
        <button type="submit" class="danger">
          {t.cancel.yes}
        </button>
      </form>
      <p>
        <a class="button plain" href={linkTo(view)}>
          {t.cancel.no}
        </a>
      </p>
    </PaymentPage>
  )
}

// Then the shop has the word, if it gave an address for it.
export const CancelledPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const exit = cancelledExit(checkout)
  const unresolved = checkout.attempts.some(isUnresolved)
  const text = unresolved ? t.cancelled.wished : t.cancelled.words
  return (
    <PaymentPage
      view={view}
      title={t.cancelled.title}
      exit={exit}
      poll={unresolved ? pollSeconds : undefined}
    >
      <section class="card">
        <h1>{t.cancelled.title}</h1>
        <p>
          <Say text={text} shop={<bdi>{checkout.merchant_name}</bdi>} />
        </p>
      </section>
      <LeavingSoon view={view} exit={exit} />
      <Leave view={view} exit={exit} text={t.wait.back} button />
    </PaymentPage>
  )
}
