import { daysBetween } from '../../../core/redaction/redact.ts'
import { fill, unbroken } from '../../../core/text.ts'
import { amountOf, labelOf, type View } from './view.ts'

type Fact = [name: string, value: string | null]

// What a receipt says, one fact a line.
export const Facts = ({ view, whole }: { view: View; whole?: boolean }) => (
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

// Why a receipt says less than it did.
const Removed = ({ view: { checkout, t } }: { view: View }) => {
  const { redacted_at, updated_at } = checkout
  if (!redacted_at) return null
  const values = { date: dateOf(redacted_at, t), days: daysBetween(updated_at, redacted_at) }
  return <p class="muted">{fill(t.receipt.removed, values)}</p>
}

function factsOf(view: View, whole = false): Fact[] {
  const { checkout, t } = view
  const { receipt } = t
  const told: Fact[] = [
    [receipt.description, checkout.description],
    [receipt.invoice, checkout.invoice_id],
    [receipt.paid_with, paidWith(view)],
    [receipt.when, whenPaid(view)],
    [receipt.reference, checkout.tx_reference],
  ]
  if (!whole) return told
  const head: Fact[] = [
    [receipt.merchant, checkout.merchant_name],
    [receipt.amount, amountOf(view)],
  ]
  return [...head, ...told, [receipt.provider_reference, checkout.payment_reference]]
}

function paidWith(view: View): string | null {
  const { payment_method, payment_instrument } = view.checkout
  if (!payment_method) return null
  const label = labelOf(view, payment_method)
  if (payment_method === 'card' && payment_instrument) return unbroken(payment_instrument)
  return payment_instrument ? `${label} ${unbroken(payment_instrument)}` : label
}

const dateOf = (time: Date, { locale }: View['t']) =>
  unbroken(new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(time))

// Ghana's time is GMT, and a receipt is read anywhere.
function whenPaid({ checkout, t }: View): string {
  const time = checkout.payment_time ?? checkout.updated_at
  const clock = new Intl.DateTimeFormat(t.locale, { timeStyle: 'short', timeZone: 'UTC' }).format(time)
  return `${dateOf(time, t)}, ${unbroken(`${clock} GMT`)}`
}
