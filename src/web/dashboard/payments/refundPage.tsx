import { FormToken } from '../../../core/markup/page.tsx'
import { mostIn } from '../../../core/merchant/totalLimit.ts'
import { figureIn } from '../../../core/money.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { moneyText, withoutControls } from '../../../core/timeline/history.ts'
import { fill } from '../../../core/text.ts'
import { MerchantPage } from '../frame/frame.tsx'
import { type PaymentPageProps, pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'

// What was typed, so that nothing is lost.
export type TypedRefund = { part: 'whole' | 'part'; amount: string; reason: string; attempt: string } // attempt: of another charge than the one that paid it
export type RefundFormFault = { of: 'amount' | 'reason'; text: string }

type RefundPageProps = Pick<PaymentPageProps, 'visit' | 'details'> & {
  typed: TypedRefund
  fault?: RefundFormFault
}

// The form has the number of the refund, so that it makes one refund, however often and in how many tabs it is submitted.
export const RefundPage = (props: RefundPageProps) => {
  const { visit, details, typed, fault } = props
  const texts = paymentTexts[visit.lang]
  const { payment } = details.explained
  const invoice = withoutControls(payment.invoice_id)
  const title = fill(texts.refundTitle, { invoice })
  return (
    <MerchantPage visit={visit} title={title} place="payments">
      <p class="crumb">
        <a href={`${visit.base}/payments`}>{texts.payments}</a>
        <span aria-hidden="true">›</span>
        <a href={pathOf(visit, details)}>{invoice}</a>
        <span aria-hidden="true">›</span>
        <strong>{texts.refund}</strong>
      </p>
      <section class="card roomy narrow">
        <form method="post" action={`${pathOf(visit, details)}/refund`} class="pay-stack">
          <h1>{title}</h1>
          <p>
            {typed.attempt
              ? fill(texts.refundOther, { number: typed.attempt })
              : fill(texts.refundText, {
                  total: moneyText(payment.currency, payment.total),
                  method: payment.payment_method ? paymentMethodName(payment.payment_method) : '',
                })}
          </p>
          <AmountField {...props} />
          <div class="field">
            <label for="reason">{texts.reason}</label>
            <p class="hint" id="reason-hint">
              {texts.reasonHint}
            </p>
            {fault?.of === 'reason' && (
              <p class="fault" role="alert">
                {fault.text}
              </p>
            )}
            <input
              class="input"
              id="reason"
              name="reason"
              value={typed.reason}
              maxlength={200}
              autocomplete="off"
              aria-describedby="reason-hint"
            />
          </div>
          <LimitNotes {...props} />
          <input type="hidden" name="number" value={details.refundNumber} />
          {typed.attempt && <input type="hidden" name="attempt" value={typed.attempt} />}
          <FormToken token={visit.formToken} />
          <div class="row">
            <button type="submit" class="btn">
              {texts.refundButton}
            </button>
            <a class="btn quiet" href={pathOf(visit, details)}>
              {texts.back}
            </a>
          </div>
        </form>
      </section>
    </MerchantPage>
  )
}

const AmountField = ({ visit, details, typed, fault }: RefundPageProps) => {
  const texts = paymentTexts[visit.lang]
  const { currency } = details.explained.payment
  const isFaulty = fault?.of === 'amount'
  return (
    <fieldset class="pay-stack">
      <legend class="sr">{texts.amount}</legend>
      <label class="pick">
        <input type="radio" name="part" value="whole" checked={typed.part === 'whole'} />
        {fill(texts.whole, { money: moneyText(currency, details.left) })}
      </label>
      <label class="pick">
        <input type="radio" name="part" value="part" checked={typed.part === 'part'} />
        {texts.part}
      </label>
      <div class="field">
        <label for="amount">{fill(texts.partAmount, { currency })}</label>
        {isFaulty && (
          <p class="fault" role="alert" id="amount-fault">
            {fault.text}
          </p>
        )}
        <input
          class="input"
          id="amount"
          name="amount"
          value={typed.amount}
          inputmode="decimal"
          autocomplete="off"
          maxlength={20}
          placeholder={figureIn(details.left, currency)}
          aria-invalid={isFaulty ? 'true' : undefined}
          aria-describedby={isFaulty ? 'amount-fault' : undefined}
        />
      </div>
    </fieldset>
  )
}

const LimitNotes = ({ visit, details }: RefundPageProps) => {
  const texts = paymentTexts[visit.lang]
  const { currency } = details.explained.payment
  const { refund_confirm_above, refund_approval_above } = details.limits
  const money = (limit: NonNullable<typeof refund_confirm_above>) =>
    moneyText(currency, mostIn(limit, currency))
  return (
    <>
      {refund_confirm_above && (
        <p class="small muted">{fill(texts.confirmNote, { money: money(refund_confirm_above) })}</p>
      )}
      {refund_approval_above && (
        <p class="small muted">{fill(texts.approvalNote, { money: money(refund_approval_above) })}</p>
      )}
    </>
  )
}
