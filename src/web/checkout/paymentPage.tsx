import type { Child, PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { Sentence } from '../../core/markup/page.tsx'
import { fill } from '../../core/text.ts'
import { CustomerPage } from '../pages/customerPage.tsx'
import type { Exit } from './exit.tsx'
import {
  amountOf,
  figureOf,
  linkTo,
  resourceOf,
  secondsLeft,
  timeLeft,
  titleOf,
  versionOf,
  type View,
} from './view.ts'

const redirectAfterSeconds = 4 // enough to see the tick and the host

type PaymentPageProps = PropsWithChildren<{
  view: View
  title: string
  head?: boolean // the amount is the heading of the page: no attempt was made yet
  onPhone?: Child // how to continue on a phone, below the bill
  path?: string // of this page, after the payment's address
  query?: Record<string, string>
  poll?: number // interval of the script's polling
  refresh?: number // interval of the reload without scripts
  reloaded?: Record<string, string> // added to the query by that reload
  form?: string // the id of a form whose input is kept when the language changes
  exit?: Exit // where this page redirects if it saw the payment end
  forward?: string // the provider's page, which this page opens by itself
  aside?: Child // beside the page, on a wide screen
  hasReference?: boolean // the page itself shows the reference
}>

// The frame of every page that shows a payment.
export const PaymentPage = (props: PaymentPageProps) => {
  const { view, title, head, onPhone, path, query, poll, form, aside, hasReference, children } = props
  const { checkout, lang, t } = view
  const leaving = leavingOf(props)
  const here = linkTo(view, path, query)
  const script = {
    ...(poll && {
      'data-poll': poll,
      'data-state': resourceOf(view, '/state'),
      'data-version': versionOf(view),
      'data-here': here,
      'data-lost': t.frame.lost,
      'data-back': t.frame.back,
    }),
    ...(leaving && { 'data-go': leaving.url, 'data-after': leaving.seconds }),
  }
  return (
    <CustomerPage
      title={titleOf(view, title)}
      lang={lang}
      inLang={other => linkTo({ ...view, urlLang: other }, form ? '/words' : path, query)}
      form={form}
      test={checkout.mode === 'test'}
      isCopy={view.isCopy}
      shop={checkout.merchant_name}
      branding={checkout.branding}
      bill={<Bill view={view} head={head} onPhone={onPhone} />}
      aside={aside}
      reference={hasReference ? undefined : checkout.tx_reference}
      refresh={leaving ?? reloadOf(props)}
      script={script}
    >
      {children}
    </CustomerPage>
  )
}

// Where the page leads by itself: to the provider at once, or back to the shop when the result was seen.
function leavingOf({ view, exit, forward }: PaymentPageProps) {
  if (forward) return { seconds: 0, url: forward }
  return view.redirects && exit ? { seconds: redirectAfterSeconds, url: exit.url } : undefined
}

function reloadOf({ view, path, query, refresh, reloaded }: PaymentPageProps) {
  return refresh ? { seconds: refresh, url: linkTo(view, path, { ...query, ...reloaded }) } : undefined
}

type BillProps = { view: View; head?: boolean; onPhone?: Child }

// The bill: what is paid, for what, and until when. It is at the top on a phone, and in its own column on a wide
// screen. `head` makes the amount the heading of the page. A phone hides the bill of a paid payment, because the
// receipt repeats it.
const Bill = ({ view, head, onPhone }: BillProps) => (
  <div class={view.checkout.stage === 'paid' ? 'bill repeated' : 'bill'}>
    <div class="due">
      {head ? <Head view={view} /> : <p class="amount">{amountOf(view)}</p>}
      <Until view={view} />
    </div>
    <Description view={view} />
    <Listed view={view} />
    {onPhone}
  </div>
)

// The page shows only the amount, under the shop's name. A screen reader gets the whole sentence.
const Head = ({ view }: { view: View }) => (
  <h1 class="amount">
    <span aria-hidden="true">{amountOf(view)}</span>
    <span class="sr">
      <Sentence
        text={view.t.choose.pay_to}
        amount={amountOf(view)}
        shop={<bdi>{view.checkout.merchant_name}</bdi>}
      />
    </span>
  </h1>
)

const timed: readonly string[] = ['choose', 'failed'] // in other stages a request has its own time limit

const Until = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const seconds = timed.includes(checkout.stage) && checkout.methods.length > 0 ? secondsLeft(view) : 0
  return (
    <p class="muted">
      <span class="word">{t.frame.invoice} </span>
      <bdi>{checkout.invoice_id}</bdi>
      {seconds > 0 && (
        <>
          {' · '}
          <span class="whole">
            <Sentence text={t.frame.left} time={<span data-left={seconds}>{timeLeft(seconds, t)}</span>} />
          </span>
        </>
      )}
    </p>
  )
}

const foldsFrom = 140 // characters: about three lines on a small phone

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

// Collapsed on a phone. The stylesheet always shows the content on a wide screen.
const Listed = ({ view }: { view: View }) =>
  view.checkout.line_items && (
    <details class="listed">
      <summary>{view.t.items.title}</summary>
      <LineItems view={view} />
    </details>
  )

// The items and their sum, if the shop has listed any.
export const LineItems = ({ view }: { view: View }) =>
  view.checkout.line_items && (
    <ul class="items" aria-label={view.t.items.title}>
      {view.checkout.line_items.map(({ name, quantity, total }) => (
        <li>
          <span>
            {quantity > 1 && `${fill(view.t.items.times, { quantity })} `}
            <bdi>{name}</bdi>
          </span>
          <span>{figureOf(view, total)}</span>
        </li>
      ))}
      <li class="sum">
        <span>{view.t.items.total}</span>
        <span>{amountOf(view)}</span>
      </li>
    </ul>
  )
