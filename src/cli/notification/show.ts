import {
  type ExplainedNotification,
  explainNotification,
} from '../../actions/notifications/findNotifications.ts'
import {
  deliveryState,
  hintsFor,
  isInFlight,
  missingTries,
  resultText,
  triesKeptDays,
  type Try,
} from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { deliveryWindowMs, offsets } from '../../core/notification/schedule.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import type { NotificationRow } from '../../store/notifications/notificationList.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { CommandContext } from '../database.ts'
import { notFound } from '../failure.ts'
import { type Output, pick } from '../output.ts'
import { dateTime, type Fact, facts, indented, paint, paragraphs, section, table } from '../terminal.ts'
import { notificationData, timeUntil } from './text.ts'

const maxAnswerLength = 100 // of the shown first line

export function addNotificationShow(notification: CliCommand) {
  notification
    .command('show <id>')
    .description(
      "Show a notification: its body as the merchant receives it, including the customer's data; its address, the result " +
        'of every try, and the time of the next one. The first line of each answer is shown, with --json the first 4 KiB.',
    )
    .examples(
      'tollgate notification show TG-01KA9C-7M2QXH-0V4D1R-N1',
      'tollgate notification show TG-01KA9C-7M2QXH-0V4D1R-N1 --json',
    )
    .runWithDatabase(show)
}

export const notificationNotFound = (id: string) =>
  notFound(`No notification has the id ${withoutControls(id)}: tollgate notification list shows the newest.`)

async function show({ db, clock }: CommandContext, id: string): Promise<Output> {
  const now = clock()
  const notification = await explainNotification(db, id)
  if (!notification) throw notificationNotFound(id)
  const { storedTries, merchant_name, invoice_id, body } = notification
  const { lost, forgotten } = missingTries(
    notification,
    storedTries.map(one => one.try),
    now,
  )
  const hints = hintsFor([...storedTries.map(({ result }) => result), notification.last_result])
  const data = {
    ...notificationData(notification),
    merchant_name,
    invoice_id,
    body,
    tried: storedTries.map(tryData),
    lost_tries: lost,
    hints,
  }
  const tries = triesText(storedTries, lost, forgotten)
  const text = paragraphs(
    section(`Notification ${notificationId(notification)}`, facts(factsOf(notification))),
    section('Body', `  ${withoutControls(body)}`),
    section('Delivery', indented(deliveryText(notification, now))),
    tries && section('Tries', tries),
    hints.length > 0 && paint('yellow', hints.join('\n')),
  )
  return { data, text }
}

const factsOf = (notification: ExplainedNotification): Fact[] => [
  ['merchant', `${notification.merchant_name} (${notification.merchant_id})`],
  ['payment', `${notification.tx_reference} (invoice ${notification.invoice_id})`],
  ['mode', notification.mode],
  ['status', notification.status],
  ['type', notification.type === 'status' ? undefined : (notification.type ?? '')],
  ['created', dateTime(notification.created_at)],
  ['url', notification.url && withoutControls(notification.url)],
  ['style', notification.style],
]

const tryData = (one: Try) => ({
  ...pick(one, 'try', 'started_at', 'ms', 'address', 'status', 'result', 'words'),
  answer: one.answer === null ? null : one.answer.toString('utf8'),
})

function deliveryText(notification: NotificationRow, now: Date): string {
  const redeliver = `tollgate notification redeliver ${notificationId(notification)}`
  const { acknowledged_at, exhausted_at, tries } = notification
  const state = deliveryState(notification)
  if (state === 'none') return notSentText(notification, redeliver)
  if (state === 'acknowledged' && acknowledged_at)
    return `Acknowledged ${dateTime(acknowledged_at)}, by try ${tries}.`
  if (state === 'exhausted' && exhausted_at)
    return `Exhausted ${dateTime(exhausted_at)}, after ${triesCount(tries)}.\nSend it again: ${redeliver}`
  return `${tries === 0 ? 'Not tried yet.' : `${triesCount(tries)} so far.`}\n${nextTryLines(notification, now)}`
}

const notSentText = ({ status, merchant_id }: NotificationRow, redeliver: string) =>
  status === 'awaiting_payment'
    ? 'Not sent: no ipn_url was set, or ipn_style was basic, which does not send awaiting_payment.'
    : `Not sent: no ipn_url was set.\nTo send it now: tollgate merchant set ${merchant_id} ipn_url=URL, then ${redeliver}`

const triesCount = (tries: number | null) => (tries === 1 ? '1 try' : `${tries} tries`)

function nextTryLines(notification: NotificationRow, now: Date): string {
  const { next_try_at, begun_at, parked } = notification
  if (isInFlight(notification, now)) return 'A try is under way.'
  if (!next_try_at || !begun_at) return ''
  const when =
    next_try_at <= now
      ? 'now'
      : `${dateTime(next_try_at)}, ${timeUntil(next_try_at.getTime() - now.getTime())}`
  const end = dateTime(new Date(begun_at.getTime() + deliveryWindowMs))
  const until = `At most ${offsets.length} tries since ${dateTime(begun_at)}; exhausted by ${end}.`
  return parked
    ? `It is parked until its endpoint has recovered. The next try is at the latest ${when}.\n${until}`
    : `The next try is ${when}.\n${until}`
}

// A row for each try, with the answer of the endpoint below it. Empty if there were none.
function triesText(
  storedTries: readonly Try[],
  lost: readonly number[],
  forgotten: readonly number[],
): string {
  const rows = [
    ...storedTries.map(one => ({ number: one.try, cells: cellsOf(one), more: answerLine(one) })),
    ...lost.map(number => ({
      number,
      cells: [number, '', '', '', '', 'a node stopped before it saved the result'],
      more: undefined,
    })),
  ].sort((a, b) => a.number - b.number)
  const [title = '', ...lines] = table(
    ['#', 'WHEN', 'TOOK', 'ADDRESS', 'STATUS', 'RESULT'],
    rows.map(({ cells }) => cells),
    ['#', 'TOOK'],
  ).split('\n')
  const text = lines.flatMap((line, at) => {
    const more = rows[at]?.more
    return more ? [line, `     ${paint('dim', more)}`] : [line]
  })
  return [
    ...(rows.length > 0 ? [title, ...text] : []),
    ...(forgotten.length > 0
      ? [`${forgotten.length} older: results of tries are stored for ${triesKeptDays} days.`]
      : []),
  ]
    .map(line => `  ${line}`)
    .join('\n')
}

const cellsOf = (one: Try) => [
  one.try,
  dateTime(one.started_at),
  one.ms < 10_000 ? `${one.ms} ms` : `${(one.ms / 1000).toFixed(1)} s`,
  withoutControls(one.address ?? ''),
  one.status,
  resultText(one.result) + (one.words ? `: ${withoutControls(one.words)}` : ''),
]

// Untrusted bytes: one line without control characters.
function answerLine({ answer }: Try): string | undefined {
  const lines = (answer?.toString('utf8') ?? '').split(/[\r\n]+/).filter(line => line.trim() !== '')
  const first = withoutControls(lines[0] ?? '').trim()
  if (first === '') return undefined
  const cut = [...first].slice(0, maxAnswerLength).join('')
  return `answered: ${cut}${cut !== first || lines.length > 1 ? ' …' : ''}`
}
