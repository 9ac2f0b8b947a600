import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { maskEmail, maskPhone } from '../../../core/mask.ts'
import { moneyText, withoutControls } from '../../../core/timeline/history.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { fill } from '../../../core/text.ts'
import { localTime } from '../../../core/zone.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { frameTexts } from '../frame/frameTexts.ts'
import { shortDay } from './filterBar.tsx'
import { StatusPill } from './listPage.tsx'
import { Clock, dayOf, type PaymentPageProps, pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'
import { spanText } from './spanText.ts'

// The amount, the status and what the shop sent. Numbers and addresses are masked unless they were asked for.
export const FactsCard = (props: PaymentPageProps) => {
  const { visit, details, isRevealed } = props
  const { payment } = details.explained
  const texts = paymentTexts[visit.lang]
  return (
    <section class="card side-facts">
      <p class="sumline">
        <span class="total num nowrap">{moneyText(payment.currency, payment.total)}</span>
        <StatusPill visit={visit} status={payment.status} />
      </p>
      <p class="ref num muted small">
        <span class="copied-text">{payment.tx_reference}</span>
        <button type="button" class="btn quiet small copy" data-copied={texts.copied} hidden>
          <Icon name="copy" />
          <span>{texts.copy}</span>
        </button>
      </p>
      <dl class="facts">
        {factsOf(props).map(([name, value]) =>
          value ? (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ) : null,
        )}
      </dl>
      {isRevealed && (
        <p class="small muted" role="status">
          {texts.revealed}
        </p>
      )}
      {!isRevealed && hasContacts(props) && visit.may('payments.reveal') && (
        <form method="post" action={`${pathOf(visit, details)}/reveal`}>
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn quiet small reveal">
            {texts.reveal}
          </button>
          <p class="tiny muted">{texts.revealNote}</p>
        </form>
      )}
    </section>
  )
}

const hasContacts = ({ details }: PaymentPageProps) => {
  const { number, email, pymt_instrument } = details.explained.payment
  return Boolean(number || email || pymt_instrument)
}

type Fact = readonly [name: string, value: Child]

const text = (value: string | null) => value && withoutControls(value)

function factsOf(props: PaymentPageProps): Fact[] {
  const { visit, details, outletName, timeZone, isRevealed } = props
  const { payment } = details.explained
  const { facts } = paymentTexts[visit.lang]
  const { test, live } = frameTexts[visit.lang]
  const phone = (value: string | null) => value && (isRevealed ? value : maskPhone(value))
  const clock = (at: Date | null) =>
    at && <Clock at={at} day={dayOf(props)} visit={visit} timeZone={timeZone} />
  const { payment_method, payment_time, redacted_at, pymt_instrument, number } = payment
  return [
    [facts.invoice, text(payment.invoice_id)],
    [facts.for, text(payment.description)],
    [facts.outlet, outletName && text(outletName)],
    [facts.customer, text(payment.name)],
    [facts.phone, phone(number)],
    [facts.walletNumber, pymt_instrument === number ? null : phone(pymt_instrument)],
    [facts.email, payment.email && (isRevealed ? payment.email : maskEmail(payment.email))],
    [
      facts.customer,
      redacted_at &&
        fill(facts.removed, { day: shortDay(localTime(redacted_at, timeZone).day, visit.lang, true) }),
    ],
    [facts.paidWith, payment.status === 'paid' && payment_method && paymentMethodName(payment_method)],
    [facts.providerRef, text(payment.payment_reference)],
    [facts.asked, clock(payment.created_at)],
    [facts.paid, payment.status === 'paid' && clock(payment_time)],
    [
      facts.timeToPay,
      payment.status === 'paid' &&
        payment_time &&
        spanText(visit.lang, payment_time.getTime() - payment.created_at.getTime()),
    ],
    [facts.expires, payment.status === 'awaiting_payment' && clock(payment.expires_at)],
    [facts.mode, payment.mode === 'test' ? test : live],
  ]
}
