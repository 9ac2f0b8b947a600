import type { Attempt } from '../../../core/payment/attempt.ts'
import { fill } from '../../../core/text.ts'
import { cancelledExit } from '../page/exit.ts'
import { Leave } from '../page/leave.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { Say } from '../page/say.tsx'
import { linkTo, type View } from '../page/view.ts'

const pollSeconds = 5 // money that comes late is seen before it is paid twice
const refreshSeconds = 10 // the same without scripts: as seldom as will do, because it interrupts whoever listens

// After these, money was taken and goes back, or nobody can promise that none was taken.
const mayHaveTaken = new Set<string | null | undefined>(['given_up', 'reversed'])

// The provider's plain no. Only then do we say that nothing was taken.
export const FailedPage = ({ view, attempt }: { view: View; attempt: Attempt | undefined }) => {
  const { checkout, t } = view
  const reason = t.reasons[attempt?.reason ?? 'refused']
  const over = checkout.stage === 'over'
  const exit = cancelledExit(checkout)
  const refresh = attempt?.next_ask_at ? refreshSeconds : undefined // while we still ask whether it turns into a yes
  return (
    <PaymentPage view={view} title={t.failed.title} poll={pollSeconds} refresh={refresh}>
      <section class="card bad">
        <h1>{reason.title}</h1>
        <p>
          {!mayHaveTaken.has(attempt?.reason) && `${t.failed.nothing_taken} `}
          {over ? <Say text={t.failed.over} shop={<bdi>{checkout.merchant_name}</bdi>} /> : reason.advice}
        </p>
      </section>
      {!over && <NextTry view={view} />}
      <Leave view={view} exit={exit} text={t.failed.leave} button={over} />
      {!over && (
        <p class="quiet">
          <a href={linkTo(view, '/cancel')}>{t.choose.cancel}</a>
        </p>
      )}
    </PaymentPage>
  )
}

const NextTry = ({ view }: { view: View }) => (
  <>
    {view.checkout.seconds > 0 && (
      <p class="muted" data-count={view.checkout.seconds}>
        {fill(view.t.choose.again_in, { seconds: view.checkout.seconds })}
      </p>
    )}
    <p>
      <a class="button" href={linkTo(view, '', { again: 'same' })}>
        {view.t.failed.again}
      </a>
    </p>
    <p>
      <a class="button plain" href={linkTo(view, '', { again: 'other' })}>
        {view.t.failed.other}
      </a>
    </p>
  </>
)
