import { maskInstrument } from '../../core/mask.ts'
import type { Attempt, AttemptState } from '../../core/payment/attempt.ts'
import { paymentMethodName } from '../../core/provider/paymentMethod.ts'
import { maskKnownNumbers, type PaymentHistory, withoutControls } from '../../core/timeline/history.ts'
import { Pill, type PillTone } from '../pages/operatorPage.tsx'

const badges: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  mtn_mobile_money: ['mtn', 'MTN'],
  telecel_cash: ['tel', 'T'],
  airteltigo_money: ['at', 'AT'],
  card: ['card-m', 'Card'],
  ghqr: ['', 'QR'],
}

// A state in progress is shown as waiting.
const tones: Partial<Record<AttemptState, PillTone>> = { paid: 'ok', failed: 'bad', disputed: 'bad' }

// The attempts to pay, newest first.
export const AttemptTable = ({ history }: { history: PaymentHistory }) => (
  <section class="card">
    <header>
      <h2>Attempts</h2>
    </header>
    {history.attempts.length === 0 ? (
      <p class="empty">The customer has not chosen how to pay yet.</p>
    ) : (
      <table class="fold attempts">
        <thead>
          <tr>
            <th>Method</th>
            <th>Outcome</th>
            <th>Wallet or card</th>
            <th>Provider account</th>
            <th>Provider's reference</th>
          </tr>
        </thead>
        <tbody>
          {history.attempts.toReversed().map(attempt => (
            <AttemptRow attempt={attempt} history={history} />
          ))}
        </tbody>
      </table>
    )}
  </section>
)

const AttemptRow = ({ attempt, history }: { attempt: Attempt; history: PaymentHistory }) => {
  const [tone, letters] = badges[attempt.payment_method] ?? ['', '']
  return (
    <tr>
      <td>
        <span class="method">
          {letters && (
            <span class={`badge ${tone}`} aria-hidden="true">
              {letters}
            </span>
          )}
          {attempt.number}. {paymentMethodName(attempt.payment_method)}
        </span>
      </td>
      <td>
        <Pill tone={tones[attempt.state] ?? 'wait'}>{attempt.state.replaceAll('_', ' ')}</Pill>{' '}
        {attempt.reason && <span class="muted">{attempt.reason.replaceAll('_', ' ')}</span>}
      </td>
      <td>{withoutControls(maskInstrument(attempt.instrument) ?? '')}</td>
      <td>{attempt.provider_account}</td>
      <td class="muted">{maskKnownNumbers(attempt.provider_ref ?? '', history)}</td>
    </tr>
  )
}
