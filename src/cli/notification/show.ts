import type { Command } from 'commander'
import {
  type ExplainedNotification,
  explainNotification,
} from '../../actions/notifications/findNotifications.ts'
import { hintsFor, missingTries } from '../../core/notification/deliveryWords.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import type { Db } from '../../store/db.ts'
import type { Try } from '../../store/notifications/tries.ts'
import { withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, type Fact, facts, heading, paint } from '../terminal.ts'
import { scheduleWords } from './schedule.ts'
import { notificationData } from './text.ts'
import { triesText } from './tries.ts'

export function addNotificationShow(notification: Command, cli: Cli) {
  notification
    .command('show <id>')
    .description(
      "Show a notification: its body as the merchant gets it, with the customer's data; where it goes, what came " +
        'of every try, and when the next one is. Of what an endpoint answered the first line is shown, with ' +
        '--json the first 4 KiB.',
    )
    .addHelpText(
      'after',
      examples(
        'tollgate notification show TG-01KA9C-7M2QXH-0V4D1R-N1',
        'tollgate notification show TG-01KA9C-7M2QXH-0V4D1R-N1 --json',
      ),
    )
    .action(async (id: string) => cli.print(await withDatabase(({ db, clock }) => show(db, id, clock()))))
}

export const noNotification = (id: string) =>
  new CannotDo(
    'not_found',
    `No notification has the id ${withoutControls(id)}: tollgate notification list shows the newest.`,
  )

async function show(db: Db, id: string, now: Date): Promise<Output> {
  const told = await explainNotification(db, id)
  if (!told) throw noNotification(id)
  const { written, merchant_name, invoice_id, body } = told
  const { lost, forgotten } = missingTries(
    told,
    written.map(one => one.try),
    now,
  )
  const hints = hintsFor([...written.map(({ result }) => result), told.last_result])
  const data = {
    ...notificationData(told),
    merchant_name,
    invoice_id,
    body,
    tried: written.map(tryData),
    lost_tries: lost,
    hints,
  }
  const tries = triesText(written, lost, forgotten)
  const text = [
    `${heading(`Notification ${notificationId(told)}`)}\n${facts(factsOf(told))}`,
    `${heading('Body')}\n  ${withoutControls(body)}`,
    `${heading('Delivery')}\n${scheduleWords(told, now).replace(/^/gm, '  ')}`,
    ...(tries ? [`${heading('Tries')}\n${tries}`] : []),
    ...(hints.length > 0 ? [paint('yellow', hints.join('\n'))] : []),
  ]
  return { data, text: text.join('\n\n') }
}

const factsOf = (told: ExplainedNotification): Fact[] => [
  ['merchant', `${told.merchant_name} (${told.merchant_id})`],
  ['payment', `${told.tx_reference} (invoice ${told.invoice_id})`],
  ['mode', told.mode],
  ['status', told.status],
  ...(told.type === 'status' ? [] : ([['type', told.type ?? '']] satisfies Fact[])),
  ['created', dateTime(told.created_at)],
  ...(told.url === null ? [] : ([['url', withoutControls(told.url)]] satisfies Fact[])),
  ...(told.style === null ? [] : ([['style', told.style]] satisfies Fact[])),
]

const tryData = (one: Try) => ({
  try: one.try,
  started_at: one.started_at,
  ms: one.ms,
  address: one.address,
  status: one.status,
  result: one.result,
  words: one.words,
  answer: one.answer === null ? null : one.answer.toString('utf8'),
})
