import type { InboxTask, readTaskInbox, TaskFilter } from '../../../actions/payments/taskInbox.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { maskNumbers } from '../../../core/mask.ts'
import { type TaskKind, taskKinds } from '../../../core/payment/change.ts'
import { moneyText } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { fill } from '../../../core/text.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { shortAge, zonedDayMinute } from '../frame/zonedTime.ts'
import { DoneNotice } from '../ownAccount/ownAccountPages.tsx'
import { merchantBase, operatorBase, type Visit } from '../route.ts'
import { inboxTexts, type TaskNotice } from './inboxTexts.ts'
import { taskPath } from './taskPaths.ts'
import { taskTexts } from './taskTexts.ts'

type TasksProps = {
  visit: Visit
  inbox: Awaited<ReturnType<typeof readTaskInbox>>
  filter: TaskFilter
  isFirst: boolean
  zone: string
}

const tasksPath = `${operatorBase}/tasks`

type Filters = { state?: string; owner?: string; kind?: string; after?: string }

const listPath = (filters: Filters) => {
  const query = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : [])),
  ).toString()
  return query ? `${tasksPath}?${query}` : tasksPath
}

export const TasksPage = ({ visit, inbox: { tasks, next }, filter, isFirst, zone }: TasksProps) => {
  const texts = inboxTexts[visit.lang]
  const now: Filters = {
    state: filter.isClosed ? 'closed' : undefined,
    owner: filter.owner === null ? 'none' : filter.owner && 'me',
    kind: filter.kind,
  }
  const chip = (label: string, to: Filters, isOn: boolean) => (
    <a
      class={isOn ? 'chip on' : 'chip'}
      href={listPath({ ...now, ...to })}
      aria-current={isOn ? 'true' : undefined}
    >
      {label}
    </a>
  )
  return (
    <OperatorPlacePage visit={visit} title={texts.title} place="tasks">
      <h1>{texts.title}</h1>
      <div class="row">
        {chip(texts.open, { state: undefined }, !filter.isClosed)}
        {chip(texts.closed, { state: 'closed' }, filter.isClosed)}
        {chip(texts.all, { owner: undefined }, filter.owner === undefined)}
        {chip(texts.mine, { owner: 'me' }, typeof filter.owner === 'string')}
        {chip(texts.unowned, { owner: 'none' }, filter.owner === null)}
        <KindForm visit={visit} now={now} />
      </div>
      <section class="card">
        {tasks.length === 0 ? (
          <p class="empty">
            <span>{texts.none}</span>
          </p>
        ) : (
          <TaskTable visit={visit} tasks={tasks} zone={zone} />
        )}
        {(next || !isFirst) && (
          <div class="pager">
            <span>{!isFirst && <a href={listPath(now)}>{texts.first}</a>}</span>
            {next && (
              <a class="btn plain small" href={listPath({ ...now, after: next })}>
                {texts.next}
              </a>
            )}
          </div>
        )}
      </section>
    </OperatorPlacePage>
  )
}

const KindForm = ({ visit, now }: { visit: Visit; now: Filters }) => {
  const texts = inboxTexts[visit.lang]
  return (
    <form method="get" action={tasksPath} class="row">
      {now.state && <input type="hidden" name="state" value={now.state} />}
      {now.owner && <input type="hidden" name="owner" value={now.owner} />}
      <span class="input dense">
        <select name="kind" aria-label={texts.kind}>
          <option value="">{texts.allKinds}</option>
          {(Object.keys(taskKinds) as TaskKind[]).map(kind => (
            <option value={kind} selected={kind === now.kind || undefined}>
              {taskTexts[visit.lang].kinds[kind].title}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </span>
      <button type="submit" class="btn plain small">
        {texts.show}
      </button>
    </form>
  )
}

const TaskTable = ({ visit, tasks, zone }: { visit: Visit; tasks: readonly InboxTask[]; zone: string }) => {
  const [texts, words] = [inboxTexts[visit.lang], taskTexts[visit.lang]]
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.task}</th>
          <th class="r">{texts.amount}</th>
          <th>{texts.merchant}</th>
          <th>{texts.owner}</th>
          <th class="r">{texts.age}</th>
        </tr>
      </thead>
      <tbody>
        {tasks.map(task => (
          <tr>
            <td>
              <a href={`${operatorBase}${taskPath(task)}`}>
                <b>{words.kinds[task.kind].title}</b>
              </a>
              <br />
              <span class="tiny muted">
                {task.invoice_id ?? task.tx_reference}. {words.proposed}: {words.kinds[task.kind].propose}
              </span>
            </td>
            <td class="r">{moneyText(task.currency, task.amount)}</td>
            <td>
              {task.merchant_name}
              {task.mode === 'test' && <span class="muted"> (test)</span>}
            </td>
            <td>{task.owner_name ?? <span class="muted">{words.noOwner}</span>}</td>
            <td class="r" title={zonedDayMinute(task.created_at, zone, visit.lang)}>
              {shortAge(task.created_at, visit.now, visit.lang)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export type TaskFault = { of: 'note' | 'close'; typed: string; number?: number }

type TaskProps = {
  visit: Visit
  tasks: readonly InboxTask[]
  refundable: ReadonlySet<number> // attempts whose charge has a form for its refund
  zone: string
  notice?: TaskNotice
  fault?: TaskFault
  faultText?: string
}

export const TaskPage = (props: TaskProps) => {
  const { visit, tasks, notice } = props
  const texts = inboxTexts[visit.lang]
  const [first] = tasks
  if (!first) return null
  const words = taskTexts[visit.lang].kinds[first.kind]
  return (
    <OperatorPlacePage visit={visit} title={words.title} place="tasks">
      <p class="crumb">
        <a href={tasksPath}>{texts.back}</a>
      </p>
      <DoneNotice text={notice && texts.done[notice]} />
      <div class="title">
        <h1>
          {words.title}: {first.invoice_id ?? first.tx_reference}, {moneyText(first.currency, first.amount)}
        </h1>
      </div>
      {tasks.map(task => (
        <OneTask {...props} task={task} />
      ))}
    </OperatorPlacePage>
  )
}

const OneTask = (props: TaskProps & { task: InboxTask }) => {
  const { visit, task, zone, refundable } = props
  const texts = inboxTexts[visit.lang]
  const words = taskTexts[visit.lang].kinds[task.kind]
  const isOpen = task.closed_at === null
  const refund = refundOf(visit, task, refundable)
  return (
    <>
      <section class={isOpen ? 'notice' : 'notice ok'}>
        <Icon name={isOpen ? 'alert' : 'check'} />
        <div>
          <p>
            <b>{fill(texts.proposed, { what: words.propose })}</b>
          </p>
          {refund === 'here' && (
            <p>
              {fill(texts.refundText, { number: task.attempt_number })} <code>{refundCommand(task)}</code>
            </p>
          )}
          {refund === 'as_member' && <p>{texts.refundAsMember}</p>}
          {refund === 'elsewhere' && <p>{texts.refundElsewhere}</p>}
          {task.closed_at && (
            <p>
              {fill(texts.closedAt, {
                at: zonedDayMinute(task.closed_at, zone, visit.lang),
                note: maskNumbers(storedText(task.closed_note ?? '', visit.lang)),
              })}
            </p>
          )}
        </div>
        <ActionLink visit={visit} task={task} refund={refund} />
      </section>
      <div class="halves">
        <section class="card stack">
          <h2>{texts.found}</h2>
          {task.note && <p>{maskNumbers(storedText(task.note, visit.lang))}</p>}
          <dl class="facts">
            <dt>{texts.merchant}</dt>
            <dd>
              <a href={`${operatorBase}/merchants/${task.merchant_id}`}>{task.merchant_name}</a>
            </dd>
            <dt>{texts.payment}</dt>
            <dd>
              <code>{task.tx_reference}</code>
            </dd>
            <dt>{texts.attempt}</dt>
            <dd>{task.attempt_number}</dd>
            <dt>{texts.account}</dt>
            <dd>{task.provider_account ?? '–'}</dd>
            <dt>{texts.age}</dt>
            <dd>{zonedDayMinute(task.created_at, zone, visit.lang)}</dd>
          </dl>
        </section>
        <WorkCard {...props} />
      </div>
      {isOpen && visit.may('tasks.work') && <CloseCard {...props} />}
    </>
  )
}

const paymentPath = ({ merchant_id, mode, tx_reference }: InboxTask) =>
  `${merchantBase(merchant_id, mode ?? 'live')}/payments/${tx_reference}`

const accountKinds: readonly TaskKind[] = ['not_set_up', 'account_refused']
export const refundKinds: readonly TaskKind[] = ['refund', 'amount_mismatch']
const waitingRefundKinds: readonly TaskKind[] = ['refund_needs_action', 'refund_unclear']

const link = (href: string, text: string) => (
  <a class="btn plain" href={href}>
    {text}
  </a>
)

const refundCommand = ({ tx_reference, kind, attempt_number, merchant_id }: InboxTask) =>
  `tollgate refund create ${tx_reference} --task ${kind} --attempt ${attempt_number} --merchant ${merchant_id} --by NAME`

type RefundPlace = 'here' | 'as_member' | 'elsewhere'

// Where the charge of an open task is refunded. A user who is also a member of the merchant acts there as the merchant, which
// refunds only what its customer owed.
function refundOf(
  { signedIn }: Visit,
  { kind, closed_at, merchant_id, attempt_number }: InboxTask,
  refundable: ReadonlySet<number>,
): RefundPlace | undefined {
  if (closed_at !== null || !refundKinds.includes(kind)) return undefined
  if (!refundable.has(attempt_number)) return 'elsewhere'
  return signedIn.memberships.some(one => one.merchant_id === merchant_id) ? 'as_member' : 'here'
}

type ActionProps = { visit: Visit; task: InboxTask; refund: RefundPlace | undefined }

// Where the proposed action is done.
const ActionLink = ({ visit, task, refund }: ActionProps) => {
  const texts = inboxTexts[visit.lang]
  if (accountKinds.includes(task.kind) && task.provider_account)
    return link(
      `${operatorBase}/accounts/${encodeURIComponent(task.provider_account)}`,
      fill(texts.toAccount, { account: task.provider_account }),
    )
  if (waitingRefundKinds.includes(task.kind)) return link(`${operatorBase}/refunds`, texts.toRefunds)
  if (refund === 'here' && visit.may('payments.refund'))
    return link(`${paymentPath(task)}/refund?attempt=${task.attempt_number}`, texts.refundCharge)
  return link(paymentPath(task), texts.toPayment)
}

const Hidden = ({ visit, task }: { visit: Visit; task: InboxTask }) => (
  <>
    <input type="hidden" name="number" value={String(task.attempt_number)} />
    <input type="hidden" name="seen" value={String(task.worked_at?.getTime() ?? '')} />
    <FormToken token={visit.formToken} />
  </>
)

const WorkCard = ({ visit, task, fault, faultText }: TaskProps & { task: InboxTask }) => {
  const texts = inboxTexts[visit.lang]
  const isMine = task.owner === visit.signedIn.user.user_id
  const path = `${operatorBase}${taskPath(task)}`
  const mayWork = visit.may('tasks.work') && task.closed_at === null
  const isFaulty = fault?.of === 'note' && fault.number === task.attempt_number
  const id = `note-${task.attempt_number}`
  return (
    <section class="card stack">
      <h2>{texts.working}</h2>
      <p>{task.owner_name ?? texts.nobody}</p>
      {mayWork && (
        <form method="post" action={`${path}/${isMine ? 'release' : 'take'}`}>
          <Hidden visit={visit} task={task} />
          <button type="submit" class={isMine ? 'btn plain small' : 'btn small'}>
            {isMine ? texts.release : texts.take}
          </button>
        </form>
      )}
      {task.is_redacted ? (
        <p class="small muted">{texts.redacted}</p>
      ) : mayWork ? (
        <form method="post" action={`${path}/note`} class="stack">
          <div class="field">
            <label for={id}>{texts.note}</label>
            <p class="hint" id={`${id}-hint`}>
              {texts.noteHint}
            </p>
            <textarea
              class="input"
              id={id}
              name="note"
              rows={3}
              aria-describedby={`${id}-hint`}
              aria-invalid={isFaulty ? 'true' : undefined}
            >
              {isFaulty ? fault.typed : task.owner_note}
            </textarea>
            {isFaulty && <p class="fault">{faultText}</p>}
          </div>
          <Hidden visit={visit} task={task} />
          <button type="submit" class="btn plain small">
            {texts.saveNote}
          </button>
        </form>
      ) : (
        task.owner_note && <p>{task.owner_note}</p>
      )}
    </section>
  )
}

const givesUp: readonly TaskKind[] = ['amount_mismatch', 'reference_taken', 'unresolved']

const CloseCard = ({ visit, task, fault, faultText }: TaskProps & { task: InboxTask }) => {
  const texts = inboxTexts[visit.lang]
  const isFaulty = fault?.of === 'close' && fault.number === task.attempt_number
  const id = `close-${task.attempt_number}`
  return (
    <section class="card stack">
      <form method="post" action={`${operatorBase}${taskPath(task)}/close`} class="stack">
        <h2>{texts.close}</h2>
        <p>
          {texts.closeText} {givesUp.includes(task.kind) && texts.givesUp}
        </p>
        <div class="field">
          <label for={id}>{texts.closeHint}</label>
          <input
            class="input"
            id={id}
            name="note"
            value={isFaulty ? fault.typed : undefined}
            required
            autocomplete="off"
            aria-invalid={isFaulty ? 'true' : undefined}
          />
          {isFaulty && <p class="fault">{faultText}</p>}
        </div>
        <Hidden visit={visit} task={task} />
        <button type="submit" class="btn small">
          {texts.closeButton}
        </button>
      </form>
    </section>
  )
}
