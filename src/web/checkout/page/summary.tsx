import { Say } from './say.tsx'
import { amountOf, secondsLeft, timeLeft, type View } from './view.ts'

type SummaryProps = { view: View; head?: boolean; timed?: boolean }

// What is paid, to whom, for what. It leads the page where nothing has happened yet.
export const Summary = ({ view, head, timed }: SummaryProps) => {
  const { checkout, t } = view
  const seconds = secondsLeft(view)
  return (
    <section class={head ? 'card summary' : 'card summary small'}>
      {head ? <Head view={view} /> : <p class="amount">{amountOf(view)}</p>}
      {checkout.description && (
        <p class="muted">
          <bdi>{checkout.description}</bdi>
        </p>
      )}
      <dl>
        <dt>{t.frame.invoice}</dt>
        <dd>
          <bdi>{checkout.invoice_id}</bdi>
        </dd>
        {timed && seconds > 0 && (
          <>
            <dt>{t.frame.time_left}</dt>
            <dd data-left={seconds}>{timeLeft(seconds, t)}</dd>
          </>
        )}
      </dl>
    </section>
  )
}

// The eye sees the amount under the shop's name; the ear hears the whole sentence.
const Head = ({ view }: { view: View }) => (
  <h1 class="amount">
    <span aria-hidden="true">{amountOf(view)}</span>
    <span class="heard">
      <Say
        text={view.t.choose.pay_to}
        amount={amountOf(view)}
        shop={<bdi>{view.checkout.merchant_name}</bdi>}
      />
    </span>
  </h1>
)
