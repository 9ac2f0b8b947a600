import type { ListedApproval } from '../../../actions/refunds/listApprovals.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { approvalStateOf } from '../../../core/refund/approval.ts'
import { type Refund, type RefundState, refundStates } from '../../../core/refund/refund.ts'
import { fill } from '../../../core/text.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { Pill, type PillTone } from '../../pages/operatorPage.tsx'
import { ListPager, MoneyPage, type MoneyView, signedMoney } from './moneyFrame.tsx'
import { type MoneyNotice, moneyTexts } from './moneyTexts.ts'

// What a form about an approval was answered with, beside that approval.
export type ApprovalNote = { refund_reference: string; text: string; typed?: string }

export type RefundsProps = {
  view: MoneyView
  refunds: readonly Refund[]
  state: RefundState | undefined
  next: string | undefined
  isFirst: boolean
  waiting: readonly ListedApproval[]
  ended: readonly ListedApproval[]
  notice?: MoneyNotice
  fault?: ApprovalNote
}

// What waits for a second person, and all refunds.
export const RefundsPage = (props: RefundsProps) => {
  const { view, waiting, ended, notice, fault } = props
  const texts = moneyTexts[view.visit.lang]
  const isOrphan = fault && !waiting.some(one => one.refund_reference === fault.refund_reference)
  return (
    <MoneyPage view={view} part="refunds" title={texts.parts.refunds}>
      {notice && (
        <section class="notice ok" role="status">
          <Icon name="check" />
          <p>{texts.notices[notice]}</p>
        </section>
      )}
      {isOrphan && (
        <section class="notice" role="alert">
          <Icon name="alert" />
          <p>{fault.text}</p>
        </section>
      )}
      {waiting.length > 0 && <WaitingApprovals {...props} />}
      <RefundList {...props} />
      {ended.length > 0 && <EndedApprovals view={view} ended={ended} />}
    </MoneyPage>
  )
}

const WaitingApprovals = ({ view, waiting, fault }: RefundsProps) => {
  const { approvals } = moneyTexts[view.visit.lang]
  return (
    <section class="card approvals" aria-labelledby="waiting">
      <header>
        <h2 id="waiting">
          {approvals.title} <span class="count">{waiting.length}</span>
        </h2>
      </header>
      <p class="muted small">{approvals.text}</p>
      <ul>
        {waiting.map(approval => (
          <WaitingApproval
            view={view}
            approval={approval}
            fault={fault?.refund_reference === approval.refund_reference ? fault : undefined}
          />
        ))}
      </ul>
    </section>
  )
}

type WaitingProps = { view: MoneyView; approval: ListedApproval; fault: ApprovalNote | undefined }

const WaitingApproval = ({ view: { visit, dates }, approval, fault }: WaitingProps) => {
  const { approvals } = moneyTexts[visit.lang]
  const { refund_reference, currency, requester_id, requester_name, created_at, expires_at } = approval
  const amount = signedMoney(approval.amount, currency, visit.lang)
  const isOwn = requester_id === visit.signedIn.user.user_id
  const id = `why-${refund_reference}`
  const words = {
    who: requester_name ?? requester_id,
    when: dates.moment(created_at),
    until: dates.moment(expires_at),
  }
  return (
    <li>
      <p>
        <b>{amount}</b>{' '}
        <a href={`${visit.base}/payments/${approval.tx_reference}`}>{withoutControls(approval.invoice_id)}</a>{' '}
        <span class="muted small">{fill(approvals.asked, words)}</span>
        {approval.reason !== '' && (
          <span class="muted small">
            {' '}
            {fill(approvals.reason, { reason: withoutControls(approval.reason) })}
          </span>
        )}
      </p>
      {fault && (
        <p class="fault" role="alert">
          {fault.text}
        </p>
      )}
      {visit.may('refunds.approve') && (
        <div class="row decide">
          {isOwn ? (
            <p class="small">{approvals.own}</p>
          ) : (
            <form method="post" action={`${visit.base}/money/refunds/approve`}>
              <FormToken token={visit.formToken} />
              <input type="hidden" name="refund" value={refund_reference} />
              <button type="submit" class="btn small">
                {fill(approvals.approve, { amount })}
              </button>
            </form>
          )}
          <form method="post" action={`${visit.base}/money/refunds/reject`} class="row">
            <FormToken token={visit.formToken} />
            <input type="hidden" name="refund" value={refund_reference} />
            <label for={id} class="small">
              {approvals.why}
            </label>
            <input class="input dense" id={id} name="reason" value={fault?.typed} maxlength={200} required />
            <button type="submit" class="btn plain small">
              {isOwn ? approvals.takeBack : approvals.reject}
            </button>
          </form>
        </div>
      )}
    </li>
  )
}

const tones: Record<RefundState, PillTone> = {
  requested: 'wait',
  pending: 'wait',
  unknown: 'wait',
  needs_action: 'wait',
  succeeded: 'ok',
  failed: 'bad',
}

const RefundList = ({ view, refunds, state, next, isFirst }: RefundsProps) => {
  const { visit } = view
  const texts = moneyTexts[visit.lang].refunds
  const address = `${visit.base}/money/refunds`
  const query = state ? `state=${state}` : ''
  return (
    <section class="card" aria-labelledby="refunds">
      <header>
        <h2 id="refunds">{texts.title}</h2>
      </header>
      <nav class="row" aria-label={texts.state}>
        <a class={state ? 'chip' : 'chip on'} href={address} aria-current={state ? undefined : 'true'}>
          {texts.all}
        </a>
        {refundStates.map(one => (
          <a
            class={one === state ? 'chip on' : 'chip'}
            href={`${address}?state=${one}`}
            aria-current={one === state ? 'true' : undefined}
          >
            {texts.states[one]}
          </a>
        ))}
      </nav>
      {refunds.some(one => one.state === 'needs_action') && <p class="small">{texts.needsAction}</p>}
      {refunds.some(one => one.state === 'unknown') && <p class="small">{texts.unclear}</p>}
      {refunds.length === 0 ? (
        <div class="empty">
          <span>{texts.none}</span>
          <span>{texts.noneText}</span>
          <a class="btn plain small" href={`${visit.base}/payments`}>
            {texts.payments}
          </a>
        </div>
      ) : (
        <RefundTable view={view} refunds={refunds} />
      )}
      <ListPager
        first={isFirst ? undefined : { href: `${address}${query && `?${query}`}`, text: texts.newest }}
        next={
          next ? { href: `${address}?${query && `${query}&`}before=${next}`, text: texts.older } : undefined
        }
      />
    </section>
  )
}

const RefundTable = ({ view: { visit, dates }, refunds }: Pick<RefundsProps, 'view' | 'refunds'>) => {
  const texts = moneyTexts[visit.lang].refunds
  return (
    <table class="fold refunds">
      <thead>
        <tr>
          <th scope="col">{texts.time}</th>
          <th scope="col">{texts.invoice}</th>
          <th scope="col">{texts.reason}</th>
          <th scope="col" class="r">
            {texts.amount}
          </th>
          <th scope="col">{texts.state}</th>
        </tr>
      </thead>
      <tbody>
        {refunds.map(refund => (
          <tr>
            <td class="num muted at">{dates.moment(refund.created_at)}</td>
            <td class="invoice">
              <a href={`${visit.base}/payments/${refund.tx_reference}`}>
                {withoutControls(refund.invoice_id)}
              </a>
            </td>
            <td class="why small">{withoutControls(refund.reason)}</td>
            <td class="r sum">{signedMoney(refund.amount, refund.currency, visit.lang)}</td>
            <td class="status">
              <Pill tone={tones[refund.state]}>{texts.states[refund.state]}</Pill>{' '}
              {refund.state_reason !== '' && (
                <span class="muted tiny">{storedText(withoutControls(refund.state_reason), visit.lang)}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const EndedApprovals = ({
  view: { visit, dates },
  ended,
}: {
  view: MoneyView
  ended: readonly ListedApproval[]
}) => {
  const { approvals } = moneyTexts[visit.lang]
  return (
    <section class="card approvals" aria-labelledby="ended">
      <header>
        <h2 id="ended">{approvals.ended}</h2>
      </header>
      <ul>
        {ended.map(approval => {
          const { requester_name, requester_id, decider_name, decider_id, decided_at, expires_at } = approval
          const state = approvalStateOf(approval, visit.now)
          const words = {
            who: requester_name ?? requester_id,
            decider: decider_name ?? decider_id ?? '',
            when: decided_at ? dates.moment(decided_at) : '',
            until: dates.moment(expires_at),
          }
          return (
            <li>
              <p>
                <Pill tone={state === 'approved' ? 'ok' : 'off'}>{approvals.states[state]}</Pill>{' '}
                <b>{signedMoney(approval.amount, approval.currency, visit.lang)}</b>{' '}
                <a href={`${visit.base}/payments/${approval.tx_reference}`}>
                  {withoutControls(approval.invoice_id)}
                </a>{' '}
                <span class="muted small">
                  {fill(state === 'expired' ? approvals.expired : approvals.decided, words)}{' '}
                  {withoutControls(approval.decision_reason)}
                </span>
              </p>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
