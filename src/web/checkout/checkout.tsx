import type { Gate } from '../../actions/gate.ts'
import { type Checkout, openCheckout } from '../../actions/openCheckout.ts'
import { formatMoney } from '../../core/money.ts'
import type { Ctx } from '../context.ts'
import { isRefusal } from '../errors.ts'
import { Page } from './page.tsx'
import { pageHeaders } from './pageHeaders.ts'

// The address that a merchant sends its customer to. It tells how the payment stands, and says plainly
// that no way to pay is open here.
export const checkoutRoute = (gate: Gate) => async (c: Ctx) => {
  const checkout = await openCheckout(gate.db, c.req.param('token') ?? '', gate.clock()).catch(orUnreachable)
  if (checkout === 'unreachable') return c.html(<Unreachable />, 503, { ...pageHeaders, 'retry-after': '5' })
  if (!checkout) return c.html(<NoPayment />, 404, pageHeaders)
  return c.html(
    <CheckoutPage checkout={checkout} now={gate.clock()} />,
    checkout.expired ? 410 : 200,
    pageHeaders,
  )
}

function orUnreachable(error: unknown): 'unreachable' {
  if (isRefusal(error)) return 'unreachable'
  throw error
}

const Unreachable = () => (
  <Page title="Try again in a moment">
    <section class="card warn">
      <h1>We cannot show your payment now</h1>
      <p>Our records are out of reach for a moment. Your payment is safe there. Reload this page shortly.</p>
    </section>
  </Page>
)

const NoPayment = () => (
  <Page title="No payment here">
    <section class="card">
      <h1>There is no payment at this address</h1>
      <p>Check that the link is complete, or go back to the shop and start again. Nothing was charged.</p>
    </section>
  </Page>
)

const CheckoutPage = ({ checkout, now }: { checkout: Checkout; now: Date }) => (
  <Page title={`${checkout.merchant_name}: ${amount(checkout)}`} test={checkout.mode === 'test'}>
    <header>
      <strong>{checkout.merchant_name}</strong>
    </header>
    <section class="card">
      <h1 class="amount">{amount(checkout)}</h1>
      {checkout.description && <p class="muted">{checkout.description}</p>}
      <dl>
        <dt>Invoice</dt>
        <dd>{checkout.invoice_id}</dd>
        <dt>Status</dt>
        <dd>{checkout.expired ? 'expired' : statusWords[checkout.status]}</dd>
        {!checkout.expired && checkout.status === 'awaiting_payment' && (
          <>
            <dt>Time left</dt>
            <dd>{timeLeft(checkout.expires_at, now)}</dd>
          </>
        )}
        <dt>Reference</dt>
        <dd>{checkout.tx_reference}</dd>
      </dl>
    </section>
    {checkout.status === 'awaiting_payment' && <WhatNow checkout={checkout} />}
    {checkout.cancelled_url && (
      <p class="quiet">
        <a href={checkout.cancelled_url} rel="noreferrer">
          Go back to {checkout.merchant_name} without paying
        </a>
      </p>
    )}
  </Page>
)

const WhatNow = ({ checkout }: { checkout: Checkout }) =>
  checkout.expired ? (
    <section class="card warn">
      <h2>The time to pay is over</h2>
      <p>Nothing was charged. Go back to {checkout.merchant_name} and start again.</p>
    </section>
  ) : (
    <section class="card warn">
      <h2>You cannot pay here yet</h2>
      <p>
        {checkout.merchant_name} asked for this payment and it is safely recorded, but no way to pay is set up
        on this gateway. Nothing was charged.
      </p>
    </section>
  )

const statusWords = {
  awaiting_payment: 'not paid yet',
  paid: 'paid',
  cancelled: 'cancelled',
  failed: 'not paid',
} as const

const amount = (checkout: Checkout) => `${checkout.currency} ${formatMoney(checkout.total)}`

function timeLeft(until: Date, now: Date): string {
  const minutes = Math.max(1, Math.round((until.getTime() - now.getTime()) / 60_000))
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
