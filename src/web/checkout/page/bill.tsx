import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { LineItems } from './lineItems.tsx'
import { Say } from './say.tsx'
import { amountOf, secondsLeft, timeLeft, type View } from './view.ts'

type BillProps = { view: View; head?: boolean; onPhone?: Child }

// What is paid, for what, and until when: the head of the page on a phone, and a column of its own on a desk. `head`
// is for the page where nothing has happened yet, and the amount leads. Where the page itself tells all of it, as a
// receipt does, a phone does not show it twice.
export const Bill = ({ view, head, onPhone }: BillProps) => (
  <div class={view.checkout.stage === 'paid' ? 'bill told' : 'bill'}>
    <div class="due">
      {head ? <Head view={view} /> : <p class="amount">{amountOf(view)}</p>}
      <Until view={view} />
    </div>
    <Description view={view} />
    <Listed view={view} />
    {onPhone}
  </div>
)

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

const timed: readonly string[] = ['choose', 'failed'] // a request that is on its way has a time of its own

const Until = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const seconds = timed.includes(checkout.stage) && checkout.offers.length > 0 ? secondsLeft(view) : 0
  return (
    <p class="muted">
      <span class="word">{t.frame.invoice} </span>
      <bdi>{checkout.invoice_id}</bdi>
      {seconds > 0 && (
        <>
          {' · '}
          <span class="whole">
            <Say text={t.frame.left} time={<span data-left={seconds}>{timeLeft(seconds, t)}</span>} />
          </span>
        </>
      )}
    </p>
  )
}

const foldsFrom = 140 // characters: about three lines of a small phone

const Description = ({ view: { checkout, t } }: { view: View }) => {
  const { description } = checkout
  if (!description) return null
  if (description.length < foldsFrom)
    return (
      <p class="what">
        <bdi>{description}</bdi>
      </p>
    )
  return (
    <details class="what">
      <summary>
        <bdi>{description}</bdi>
        <span class="unfold">{t.frame.more}</span>
        <span class="fold">{t.frame.less}</span>
      </summary>
    </details>
  )
}

// Folded on a phone; a desk has the room, and shows it as if it were open.
const Listed = ({ view }: { view: View }) =>
  view.checkout.line_items && (
    <details class="listed">
      <summary>{view.t.items.title}</summary>
      <LineItems view={view} />
    </details>
  )
