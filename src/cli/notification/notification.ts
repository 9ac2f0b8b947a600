import { Option } from 'commander'
import { newestNotifications } from '../../actions/notifications/findNotifications.ts'
import { type DeliveryState, deliveryStates, hintsFor } from '../../core/notification/delivery.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { requirePayment } from '../paymentText.ts'
import { paint, paragraphs } from '../terminal.ts'
import { fromOption, readLimit, requirePeriod, toOption } from '../values.ts'
import { addNotificationRedeliver } from './redeliver.ts'
import { addNotificationShow } from './show.ts'
import { notificationData, notificationTable } from './text.ts'

type Filter = {
  merchant?: string
  state?: DeliveryState
  from?: Date
  to?: Date
  payment?: string
  limit: number
}

export function addNotificationCommands(program: CliCommand) {
  const notification = program
    .command('notification')
    .description('Show notifications to merchants, and send them again.')
    .examples('tollgate notification list --state exhausted', 'tollgate payment show AMA-1042')
  notification
    .command('list')
    .description('List notifications and the state of their deliveries, newest first.')
    .option('--merchant <id>', 'only those of this merchant')
    .addOption(
      new Option(
        '--state <state>',
        'only those in this state: due (still tried), acknowledged, exhausted (given up after a day), none (no address to ' +
          'send to)',
      ).choices(deliveryStates),
    )
    .addOption(fromOption())
    .addOption(toOption())
    .option('--payment <reference>', 'only those of this payment, by its reference or invoice id')
    .option('--limit <count>', 'how many at most', readLimit, 20)
    .examples(
      'tollgate notification list',
      'tollgate notification list --merchant 7c2k9m0x4f --state exhausted --from 2026-05-01',
      'tollgate notification list --payment AMA-1042 --json',
    )
    .runWithDatabase(list)
  addNotificationShow(notification)
  addNotificationRedeliver(notification)
}

async function list(
  { db, clock }: CommandContext,
  { merchant, payment, from, to, ...rest }: Filter,
): Promise<Output> {
  requirePeriod(from, to)
  if (merchant) await requireMerchant(db, merchant)
  const one = payment === undefined ? undefined : await requirePayment(db, payment, merchant)
  const { notifications, until } = await newestNotifications(db, {
    ...rest,
    from,
    until: to,
    merchant_id: one?.merchant_id ?? merchant,
    tx_reference: one?.tx_reference,
  })
  const hints = hintsFor(notifications.map(({ last_result }) => last_result))
  const isNarrowed = [merchant, payment, from, to, rest.state].some(option => option !== undefined)
  const none = isNarrowed
    ? 'No notification matches: remove an option to see more.'
    : 'There are no notifications yet: the first comes when the status of a payment changes.'
  const more = `The search stopped before older ones: continue with --to ${until?.toISOString()}.`
  return {
    data: { notifications: notifications.map(notificationData), hints, until },
    text: paragraphs(
      notifications.length > 0 && notificationTable(notifications, clock()),
      notifications.length === 0 && !until && none,
      hints.length > 0 && paint('yellow', hints.join('\n')),
      until && paint('yellow', more),
    ),
  }
}
