import { maskInstrument } from '../../../core/mask.ts'
import type { Attempt, AttemptState } from '../../../core/payment/attempt.ts'
import type { Refund, RefundState } from '../../../core/refund/refund.ts'
import { maskKnownNumbers, moneyText, withoutControls } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { fill } from '../../../core/text.ts'
import { Pill, type PillTone } from '../../pages/operatorPage.tsx'
import { failureTexts } from './failureTexts.ts'
import { MethodName } from './listPage.tsx'
import { type PaymentPageProps, pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'
import { spanText } from './spanText.ts'

const attemptTones: Partial<Record<AttemptState, PillTone>> = { paid: 'ok', failed: 'bad', disputed: 'bad' }

// The attempts to pay, newest first.
export const AttemptsCard = (props: PaymentPageProps) => {
  const { visit, details } = props
  const texts = paymentTexts[visit.lang]
  const { attempts } = details.explained
  return (
    <section class="card">
      <header>
        <h2>{texts.attempts}</h2>
      </header>
      {attempts.length === 0 ? (
        <p class="empty">{texts.noAttempts}</p>
      ) : (
        <table class="fold attempts">
          <thead>
            <tr>
              <th>{texts.method}</th>
              <th>{texts.wallet}</th>
              <th>{texts.account}</th>
              <th class="r">{texts.took}</th>
              <th>{texts.outcome}</th>
            </tr>
          </thead>
          <tbody>
            {attempts.toReversed().map(attempt => (
              <AttemptRow {...props} attempt={attempt} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const AttemptRow = ({ visit, details, isRevealed, attempt }: PaymentPageProps & { attempt: Attempt }) => {
  const { state, reason, instrument, provider_account, provider_ref, created_at, ended_at, number } = attempt
  const texts = paymentTexts[visit.lang]
  const shown = isRevealed ? instrument : maskInstrument(instrument)
  return (
    <tr>
      <td class="nowrap">
        <span class="muted">{number}.</span> <MethodName method={attempt.payment_method} />
      </td>
      <td class="num">{withoutControls(shown ?? '')}</td>
      <td>
        {provider_account}{' '}
        {provider_ref && <span class="tiny muted">{maskKnownNumbers(provider_ref, details.explained)}</span>}
      </td>
      <td class="r">{ended_at && spanText(visit.lang, ended_at.getTime() - created_at.getTime())}</td>
      <td class="outcome">
        <Pill tone={attemptTones[state] ?? 'wait'}>{texts.attemptStates[state]}</Pill>{' '}
        {reason && <span class="small muted">{failureTexts[visit.lang][reason]}</span>}
      </td>
    </tr>
  )
}

const refundTones: Partial<Record<RefundState, PillTone>> = { succeeded: 'ok', failed: 'bad' }

// What was refunded, and what still can be.
export const RefundsCard = ({ visit, details }: PaymentPageProps) => {
  const texts = paymentTexts[visit.lang]
  const { explained, waiting, left, mayRefund } = details
  const isOff = !mayRefund && visit.role.at === 'merchant'
  const { payment, refunds } = explained
  if (payment.status !== 'paid' && refunds.length === 0) return null
  return (
    <section class="card">
      <header>
        <h2>{texts.refunds}</h2>
        {waiting.length > 0 && visit.may('refunds.approve') && (
          <a href={`${visit.base}/money/refunds`}>{texts.seeRefunds}</a>
        )}
      </header>
      <ul class="lines">
        {refunds.toReversed().map(refund => (
          <RefundLine visit={visit} details={details} refund={refund} />
        ))}
        {waiting.map(({ amount, currency, requester_name }) => (
          <li>
            <span>
              {moneyText(currency, amount)}
              <small>{requester_name}</small>
            </span>
            <Pill tone="wait">{texts.waits}</Pill>
          </li>
        ))}
      </ul>
      <div class="empty">
        <span>
          {refunds.length === 0 && `${texts.nothingRefunded} `}
          {left > 0n ? fill(texts.left, { money: moneyText(payment.currency, left) }) : texts.noneLeft}
          {left > 0n && isOff && ` ${texts.refundsOff}`}
        </span>
        {left > 0n && !isOff && visit.may('payments.refund') && (
          <a class="btn plain small" href={`${pathOf(visit, details)}/refund`}>
            {texts.refund}
          </a>
        )}
      </div>
    </section>
  )
}

type RefundLineProps = Pick<PaymentPageProps, 'visit' | 'details'> & { refund: Refund }

const RefundLine = ({ visit, details, refund }: RefundLineProps) => {
  const { state, currency, amount, operator, refund_id, refund_reference, reason, state_reason } = refund
  const notes = [reason, storedText(state_reason, visit.lang)]
    .filter(Boolean)
    .map(text => maskKnownNumbers(text, details.explained))
  return (
    <li>
      <span>
        {moneyText(currency, amount)}
        <small>{[operator, refund_id ?? refund_reference, ...notes].filter(Boolean).join(', ')}</small>
      </span>
      <Pill tone={refundTones[state] ?? 'wait'}>{paymentTexts[visit.lang].refundStates[state]}</Pill>
    </li>
  )
}
