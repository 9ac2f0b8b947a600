import { Sentence } from '../../../core/markup/page.tsx'
import { localizedMoney } from '../../../core/money.ts'
import { daysBetween } from '../../../core/redaction/redact.ts'
import { fill, unbroken } from '../../../core/text.ts'
import { ShopLink, RedirectNotice, paidExit } from '../exit.tsx'
import { LineItems, PaymentPage } from '../paymentPage.tsx'
import { Qr } from '../qrCode.tsx'
import { amountOf, methodLabel, linkTo, resourceOf, type View } from '../view.ts'

// The result, and the link back to the shop.
export const PaidPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const exit = paidExit(checkout)
  const shop = <bdi>{checkout.merchant_name}</bdi>
  return (
    <PaymentPage view={view} title={t.paid.title} exit={exit} hasReference>
      <section class="card paid">
        <Tick />
        <h1>{t.paid.title}</h1>
        <p class="amount">{amountOf(view)}</p>
        <p class="muted">
          <Sentence text={t.paid.to} shop={shop} />
        </p>
        <Facts view={view} />
        <ReceiptRecipients view={view} />
      </section>
      <RedirectNotice view={view} exit={exit} />
      <ShopLink view={view} exit={exit} text={t.paid.back} button />
      <p>
        <a class="btn plain wide" href={linkTo(view, '/receipt')}>
          {view.redirects ? t.paid.stay : t.paid.see}
        </a>
      </p>
    </PaymentPage>
  )
}

// Shown only if a message is sent.
const ReceiptRecipients = ({ view: { receiptTo = [], t } }: { view: View }) =>
  receiptTo.length > 0 ? (
    <p class="muted goes">
      <Sentence
        text={t.paid.receipt_to}
        where={<bdi>{new Intl.ListFormat(t.locale).format(receiptTo)}</bdi>}
      />
    </p>
  ) : null

const Tick = () => (
  <svg class="tick" width="64" height="64" viewBox="0 0 64 64" aria-hidden="true" focusable="false">
    <circle cx="32" cy="32" r="32" />
    <path d="M19 33l9 9 17-19" />
  </svg>
)

const path = '/receipt'

// The receipt. It never redirects: mails and SMS link to it, and it is opened at any time on any device.
export const ReceiptPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  return (
    <PaymentPage view={view} title={t.receipt.title} path={path} hasReference>
      <section class="card receipt">
        <h1>{t.receipt.title}</h1>
        {checkout.mode === 'test' && <p class="stamp">{t.receipt.test}</p>}
        <LineItems view={view} />
        <Facts view={view} whole />
        <Buttons view={view} />
        <ReceiptCode view={view} />
      </section>
      <ShopLink view={view} exit={paidExit(checkout)} text={t.paid.back} />
      <p>
        <a class="btn quiet wide" href={linkTo(view)}>
          {t.receipt.back}
        </a>
      </p>
    </PaymentPage>
  )
}

// Hidden until the script shows them.
const Buttons = ({ view: { checkout, t } }: { view: View }) => (
  <p class="pair">
    <button
      type="button"
      class="btn plain"
      data-copy={checkout.tx_reference}
      data-copied={t.receipt.copied}
      hidden
    >
      {t.receipt.copy}
    </button>
    <button type="button" class="btn plain" data-print hidden>
      {t.receipt.print}
    </button>
  </p>
)

// On paper, the code leads to this page, which shows whether the printout is genuine.
const ReceiptCode = ({ view }: { view: View }) => (
  <div class="itself">
    <Qr text={view.baseUrl + resourceOf({ ...view, urlLang: undefined }, path)} title={view.t.receipt.scan} />
    <p class="muted" aria-hidden="true">
      {view.t.receipt.scan}
    </p>
  </div>
)

type Fact = [name: string, value: string | null]

// The facts of a receipt.
const Facts = ({ view, whole }: { view: View; whole?: boolean }) => (
  <>
    <dl class="facts">
      {factsOf(view, whole).map(
        ([name, value]) =>
          value && (
            <>
              <dt>{name}</dt>
              <dd>
                <bdi class={value === view.checkout.tx_reference ? 'whole' : undefined}>{value}</bdi>
              </dd>
            </>
          ),
      )}
    </dl>
    <Removed view={view} />
  </>
)

// Explains why personal data is missing.
const Removed = ({ view: { checkout, t } }: { view: View }) => {
  const { redacted_at, updated_at } = checkout
  if (!redacted_at) return null
  const values = { date: dateOf(redacted_at, t), days: daysBetween(updated_at, redacted_at) }
  return <p class="muted">{fill(t.receipt.removed, values)}</p>
}

function factsOf(view: View, whole = false): Fact[] {
  const { checkout, t } = view
  const { receipt } = t
  const facts: Fact[] = [
    [receipt.description, checkout.description],
    [receipt.invoice, checkout.invoice_id],
    [receipt.paid_with, paidWith(view)],
    [receipt.when, whenPaid(view)],
    ...returnedFacts(view),
    [receipt.reference, checkout.tx_reference],
  ]
  if (!whole) return facts
  const head: Fact[] = [
    [receipt.merchant, checkout.merchant_name],
    [receipt.amount, amountOf(view)],
  ]
  return [...head, ...facts, [receipt.provider_reference, checkout.payment_reference]]
}

// What was refunded, and when.
const returnedFacts = ({ checkout: { returned, currency }, t }: View): Fact[] =>
  returned.map(({ amount, at }) => [
    t.receipt.returned,
    `${localizedMoney(amount, currency, t.locale)}, ${momentOf(at, t)}`,
  ])

function paidWith(view: View): string | null {
  const { payment_method, payment_instrument } = view.checkout
  if (!payment_method) return null
  const label = methodLabel(view, payment_method)
  if (payment_method === 'card' && payment_instrument) return unbroken(payment_instrument)
  return payment_instrument ? `${label} ${unbroken(payment_instrument)}` : label
}

const dateOf = (time: Date, { locale }: View['t']) =>
  unbroken(new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(time))

// The time zone is named, because a receipt is read anywhere.
const whenPaid = ({ checkout, t }: View) => momentOf(checkout.payment_time ?? checkout.updated_at, t)

function momentOf(time: Date, t: View['t']): string {
  const clock = new Intl.DateTimeFormat(t.locale, { timeStyle: 'short', timeZone: 'UTC' }).format(time)
  return `${dateOf(time, t)}, ${unbroken(`${clock} GMT`)}`
}
