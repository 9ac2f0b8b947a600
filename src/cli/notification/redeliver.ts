import { Option } from 'commander'
import { audited, auditedDb } from '../../actions/access/audit.ts'
import { findNotification } from '../../actions/notifications/findNotifications.ts'
import { type Redelivered, redeliver, redeliverAll } from '../../actions/notifications/redeliver.ts'
import { redeliverEntry } from '../../core/access/auditEntries.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import { requireOriginalDatabase } from '../originalDatabase.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { fromOption, requirePeriod, toOption } from '../values.ts'
import { notificationNotFound } from './show.ts'

const states = ['exhausted', 'acknowledged', 'all'] as const
type Options = { merchant?: string; from?: Date; to?: Date; state?: (typeof states)[number] }

export function addNotificationRedeliver(notification: CliCommand) {
  notification
    .command('redeliver [id]')
    .description(
      'Send a notification again, or all of a merchant in a period: the same id and the same bytes, from the start ' +
        'of the schedule, to the address that is set now. It does not ask for confirmation.',
    )
    .option('--merchant <id>', 'the merchant, for all of a period')
    .addOption(fromOption())
    .addOption(toOption())
    .addOption(
      new Option(
        '--state <state>',
        'which of that period; all includes those that had no address (default: exhausted)',
      ).choices(states),
    )
    .examples(
      'tollgate notification redeliver TG-01KA9C-7M2QXH-0V4D1R-N1',
      'tollgate notification redeliver --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-02',
      'tollgate notification redeliver --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-02 --state all',
    )
    .runWithDatabase((context, id: string | undefined, options: Options) =>
      id === undefined ? redeliverMany(context, options) : redeliverOne(context, id, options),
    )
}

async function redeliverOne(context: CommandContext, reference: string, options: Options): Promise<Output> {
  if (Object.keys(options).length > 0)
    throw refused('Give the id of one notification, or --merchant, --from and --to; not both.')
  await requireOriginalDatabase(context)
  const { db, clock, actor } = context
  const notification = await findNotification(db, reference)
  const now = clock()
  const recorded = auditedDb(db, actor, now, ({ redelivered }: Redelivered) =>
    notification && redelivered > 0 ? redeliverEntry(notification, notificationId(notification)) : undefined,
  )
  const done = notification && (await redeliver(recorded, notification, now))
  if (!notification || !done) throw notificationNotFound(reference)
  const id = notificationId(notification)
  const { being_sent, no_address, left_out } = done
  if (being_sent) throw refused(`${id} is being sent now: wait for the result.`)
  if (no_address) throw refused(`${id} has no address: set one with ${setUrl(notification.merchant_id)}`)
  if (left_out) throw refused(`${id} is not sent: ipn_style is basic, which does not send awaiting_payment.`)
  return { data: { id, ...done }, text: `${id} is due now: a running gateway sends it within a second.` }
}

const setUrl = (merchant_id: string) => `tollgate merchant set ${merchant_id} ipn_url=URL`

async function redeliverMany(
  context: CommandContext,
  { merchant, from, to, state = 'exhausted' }: Options,
): Promise<Output> {
  if (!merchant || !from || !to)
    throw refused('Give the id of one notification, or --merchant, --from and --to together.')
  requirePeriod(from, to)
  await requireOriginalDatabase(context)
  const { db, clock, actor } = context
  const { merchant_id, name } = await requireMerchant(db, merchant)
  const now = clock()
  // One entry for all pages, before the first one.
  await audited(db, actor, now, (_, record) =>
    record(redeliverEntry({ merchant_id }, merchant_id, { from, until: to, state })),
  )
  const done = await redeliverAll(db, { merchant_id, from, until: to, state }, now)
  return {
    data: { merchant_id, from, until: to, state, ...done },
    text: resultText(name, merchant_id, state, done),
  }
}

const count = (many: number) => (many === 1 ? '1 notification' : `${many} notifications`)
const are = (many: number) => (many === 1 ? 'is' : 'are')
const were = (many: number) => (many === 1 ? 'was' : 'were')
const have = (many: number) => (many === 1 ? 'has' : 'have')

function resultText(name: string, merchant_id: string, state: string, done: Redelivered): string {
  const { redelivered, being_sent, no_address, left_out } = done
  const which = state === 'all' ? '' : `${state} `
  if (redelivered + being_sent + no_address + left_out === 0)
    return `${name} has no ${which}notification in that period.${state === 'all' ? '' : ' --state all includes all of them.'}`
  return [
    `${count(redelivered)} of ${name} ${are(redelivered)} due now${redelivered > 0 ? ': a running gateway sends them' : ''}.`,
    being_sent > 0 && `${being_sent} ${are(being_sent)} being sent now and ${were(being_sent)} not changed.`,
    no_address > 0 && `${no_address} ${have(no_address)} no address: set one with ${setUrl(merchant_id)}`,
    left_out > 0 &&
      `${left_out} ${are(left_out)} not sent: ipn_style is basic, which does not send awaiting_payment.`,
  ]
    .filter(line => line !== false)
    .join('\n')
}
