import type {
  NamedRefund,
  readOperatorRefunds,
  RecordFault,
  TypedRecord,
} from '../../../actions/refunds/refundsOfOperator.ts'
import { maskNumbers } from '../../../core/mask.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import type { Mode } from '../../../core/mode.ts'
import { moneyText } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { fill } from '../../../core/text.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { shortAge, zonedDayMinute } from '../frame/zonedTime.ts'
import { DoneNotice } from '../ownAccount/ownAccountPages.tsx'
import { merchantBase, operatorBase, type Visit } from '../route.ts'
import { type OperatorRefundNotice, operatorRefundsTexts } from './operatorRefundsTexts.ts'

type Waiting = Awaited<ReturnType<typeof readOperatorRefunds>>
type Approval = Waiting['approvals'][number]

// Beside the refund that a form was about, with what was typed.
export type RefundPageFault = {
  merchant_id: string
  refund_reference: string
  text: string
  field?: RecordFault
  typed?: TypedRecord
  reason?: string
}

type PageProps = Waiting & {
  visit: Visit
  zone: string
  notice?: OperatorRefundNotice
  fault?: RefundPageFault
}

const path = (name: string) => `${operatorBase}/refunds/${name}`

const paymentPath = (of: { merchant_id: string; mode: Mode; tx_reference: string }) =>
  `${merchantBase(of.merchant_id, of.mode)}/payments/${of.tx_reference}`

export const OperatorRefundsPage = (props: PageProps) => {
  const { visit, approvals, refunds, notice } = props
  const texts = operatorRefundsTexts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={texts.title} place="refunds">
      <h1>{texts.title}</h1>
      <DoneNotice text={notice && texts.done[notice]} />
      <section class="card stack">
        <h2>
          {texts.approvals} {approvals.length > 0 && <span class="count">{approvals.length}</span>}
        </h2>
        {approvals.length === 0 ? (
          <p class="empty">
            <span>{texts.noApprovals}</span>
          </p>
        ) : (
          <p class="small muted">{texts.approvalsText}</p>
        )}
      </section>
      {approvals.map(approval => (
        <ApprovalCard {...props} approval={approval} />
      ))}
      <section class="card stack">
        <h2>
          {texts.toRecord} {refunds.length > 0 && <span class="count">{refunds.length}</span>}
        </h2>
        {refunds.length === 0 ? (
          <p class="empty">
            <span>{texts.noneToRecord}</span>
          </p>
        ) : (
          <p class="small muted">{texts.toRecordText}</p>
        )}
      </section>
      {refunds.map(refund => (
        <RefundCard {...props} refund={refund} />
      ))}
    </OperatorPlacePage>
  )
}

const Keys = ({ visit, of }: { visit: Visit; of: { merchant_id: string; refund_reference: string } }) => (
  <>
    <input type="hidden" name="merchant" value={of.merchant_id} />
    <input type="hidden" name="refund" value={of.refund_reference} />
    <FormToken token={visit.formToken} />
  </>
)

const ModeMark = ({ mode }: { mode: Mode }) => (mode === 'test' ? <span class="muted"> (test)</span> : null)

const ApprovalCard = ({ visit, zone, fault, approval }: PageProps & { approval: Approval }) => {
  const texts = operatorRefundsTexts[visit.lang]
  const money = moneyText(approval.currency, approval.amount)
  const isOwn = approval.requester_id === visit.signedIn.user.user_id
  const own = fault?.refund_reference === approval.refund_reference ? fault : undefined
  const id = `why-${approval.refund_reference}`
  return (
    <section class="card stack">
      <h3>
        {money}, {approval.merchant_name}
        <ModeMark mode={approval.mode} />: <a href={paymentPath(approval)}>{approval.invoice_id}</a>
      </h3>
      <p class="small muted">
        {fill(texts.asked, {
          who: approval.requester_name ?? approval.requester_id,
          age: shortAge(approval.created_at, visit.now, visit.lang),
          at: zonedDayMinute(approval.expires_at, zone, visit.lang),
        })}
      </p>
      {approval.reason && <p>{maskNumbers(approval.reason)}</p>}
      {own && <p class="fault">{own.text}</p>}
      {visit.may('operator_refunds.approve') && (
        <>
          {isOwn ? (
            <p class="small muted">{texts.own}</p>
          ) : (
            <form method="post" action={path('approve')}>
              <Keys visit={visit} of={approval} />
              <button type="submit" class="btn small">
                {fill(texts.approve, { money })}
              </button>
            </form>
          )}
          <form method="post" action={path('reject')} class="search-row">
            <label for={id}>{texts.why}</label>
            <input
              class="input"
              id={id}
              name="reason"
              value={own?.reason}
              required
              maxlength={200}
              autocomplete="off"
            />
            <Keys visit={visit} of={approval} />
            <button type="submit" class="btn danger small">
              {texts.reject}
            </button>
          </form>
        </>
      )}
    </section>
  )
}

const RefundCard = (props: PageProps & { refund: NamedRefund }) => {
  const { visit, refund } = props
  const texts = operatorRefundsTexts[visit.lang]
  return (
    <section class="card stack">
      <h3>
        {moneyText(refund.currency, refund.amount)}, {refund.merchant_name}
        <ModeMark mode={refund.mode} />
      </h3>
      <p class="row">
        <span class="pill wait">
          <Icon name="alert" />
          {texts.states[refund.state] ?? refund.state}
        </span>
        <a href={paymentPath(refund)}>{texts.payment}</a>
        <span class="small muted">
          {refund.provider_account}, {refund.provider_ref ?? refund.refund_reference},{' '}
          {shortAge(refund.created_at, visit.now, visit.lang)}
        </span>
      </p>
      {refund.state_reason && <p>{maskNumbers(storedText(refund.state_reason, props.visit.lang))}</p>}
      {visit.may('operator_refunds.approve') && <RecordForm {...props} />}
    </section>
  )
}

const RecordForm = ({ visit, fault, refund }: PageProps & { refund: NamedRefund }) => {
  const texts = operatorRefundsTexts[visit.lang]
  const own = fault?.refund_reference === refund.refund_reference ? fault : undefined
  const field = (name: 'at' | 'reference' | 'note') => {
    const id = `${name}-${refund.refund_reference}`
    return (
      <div class="field">
        <label for={id}>{texts[name]}</label>
        <input
          class="input"
          id={id}
          name={name}
          value={own?.typed?.[name]}
          autocomplete="off"
          aria-invalid={own?.field === name ? 'true' : undefined}
        />
        {own?.field === name && <p class="fault">{own.text}</p>}
      </div>
    )
  }
  return (
    <details open={own ? true : undefined}>
      <summary>{texts.record}</summary>
      <form method="post" action={path('record')} class="stack">
        {own?.field === 'outcome' && <p class="fault">{own.text}</p>}
        <label class="row">
          <input
            type="radio"
            name="outcome"
            value="succeeded"
            checked={own?.typed?.outcome === 'succeeded' || undefined}
          />{' '}
          {texts.succeeded}
        </label>
        {field('at')}
        {field('reference')}
        <label class="row">
          <input
            type="radio"
            name="outcome"
            value="failed"
            checked={own?.typed?.outcome === 'failed' || undefined}
          />{' '}
          {texts.failed}
        </label>
        {field('note')}
        <Keys visit={visit} of={refund} />
        <button type="submit" class="btn small">
          {texts.save}
        </button>
      </form>
    </details>
  )
}
