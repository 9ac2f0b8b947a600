import { cancelledExit, deferredExit } from '../page/exit.ts'
import { Leave } from '../page/leave.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { Say } from '../page/say.tsx'
import type { View } from '../page/view.ts'

// The pages on which nothing is left to do here.
export const ExpiredPage = ({ view }: { view: View }) => <Stopped view={view} words={view.t.expired} />
export const ClosedPage = ({ view }: { view: View }) => <Stopped view={view} words={view.t.closed} />
export const NowherePage = ({ view }: { view: View }) => <Stopped view={view} words={view.t.nowhere} />

type StoppedProps = { view: View; words: { title: string; words: string } }

const Stopped = ({ view, words }: StoppedProps) => {
  const { checkout, t } = view
  const exit = cancelledExit(checkout)
  return (
    <PaymentPage view={view} title={words.title}>
      <section class="card warn">
        <h1>{words.title}</h1>
        <p>
          <Say text={words.words} shop={<bdi>{checkout.merchant_name}</bdi>} />
        </p>
      </section>
      <Leave view={view} exit={exit} text={t.wait.back} button />
    </PaymentPage>
  )
}

const pollSeconds = 10

// The provider told of another amount: nobody may say paid, and nobody may say that nothing was taken.
export const DisputedPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const exit = deferredExit(checkout)
  return (
    <PaymentPage view={view} title={t.disputed.title} poll={pollSeconds}>
      <section class="card warn">
        <h1>{t.disputed.title}</h1>
        <p>{t.disputed.words}</p>
        <p>
          <Say text={t.disputed.advice} reference={<strong class="whole">{checkout.tx_reference}</strong>} />
        </p>
      </section>
      <Leave view={view} exit={exit} text={t.wait.back} />
    </PaymentPage>
  )
}
