import type { Refund, RefundState } from '../../core/refund/refund.ts'
import { maskKnownNumbers, moneyText, type PaymentHistory } from '../../core/timeline/history.ts'
import { Pill, type PillTone } from '../pages/operatorPage.tsx'

// A state in progress is shown as waiting.
const tones: Partial<Record<RefundState, PillTone>> = { succeeded: 'ok', failed: 'bad', needs_action: 'bad' }

// The refunds of the payment, newest first.
export const RefundTable = ({ history }: { history: PaymentHistory }) => (
  <section class="card">
    <header>
      <h2>Refunds</h2>
    </header>
    <table class="fold refunds">
      <thead>
        <tr>
          <th>Amount</th>
          <th>Outcome</th>
          <th>By</th>
          <th>Refund</th>
          <th>Provider's reference</th>
        </tr>
      </thead>
      <tbody>
        {history.refunds.toReversed().map(refund => (
          <RefundRow refund={refund} history={history} />
        ))}
      </tbody>
    </table>
  </section>
)

const RefundRow = ({ refund, history }: { refund: Refund; history: PaymentHistory }) => (
  <tr>
    <td class="nowrap">{moneyText(refund.currency, refund.amount)}</td>
    <td>
      <Pill tone={tones[refund.state] ?? 'wait'}>{refund.state.replaceAll('_', ' ')}</Pill>{' '}
      {refund.state_reason && <span class="muted">{maskKnownNumbers(refund.state_reason, history)}</span>}
    </td>
    <td>{refund.operator ?? 'the shop'}</td>
    <td class="muted">{refund.refund_id ?? refund.refund_reference}</td>
    <td class="muted">{maskKnownNumbers(refund.provider_ref ?? refund.recorded_reference ?? '', history)}</td>
  </tr>
)
