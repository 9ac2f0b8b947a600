import { type Command, Option } from 'commander'
import { newestNotifications } from '../../actions/notifications/findNotifications.ts'
import { type DeliveryState, deliveryStates, hintsFor } from '../../core/notification/delivery.ts'
import { merchantOf, type Opened, withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import { onePayment } from '../onePayment.ts'
import type { Cli, Output } from '../output.ts'
import { paint } from '../terminal.ts'
import { fromOption, readLimit, toOption } from '../values.ts'
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

export function addNotificationCommands(program: Command, cli: Cli) {
  const notification = program
    .command('notification')
    .description('See what merchants were told, and tell them again.')
    .addHelpText(
      'after',
      examples('tollgate notification list --state exhausted', 'tollgate payment show AMA-1042'),
    )
  notification
    .command('list')
    .description('List the newest notifications first, and how their deliveries stand.')
    .option('--merchant <id>', 'only those of this merchant')
    .addOption(
      new Option(
        '--state <state>',
        'only those that stand so: due (still tried), acknowledged, exhausted (tried for a day in vain), none (no address to ' +
          'send to)',
      ).choices(deliveryStates),
    )
    .addOption(fromOption())
    .addOption(toOption())
    .option('--payment <reference>', 'only those of this payment, by its reference or invoice id')
    .option('--limit <count>', 'at most so many', readLimit, 20)
    .addHelpText(
      'after',
      examples(
        'tollgate notification list',
        'tollgate notification list --merchant 7c2k9m0x4f --state exhausted --from 2026-05-01',
        'tollgate notification list --payment AMA-1042 --json',
      ),
    )
    .action(async (filter: Filter) => cli.print(await withDatabase(database => list(database, filter))))
  addNotificationShow(notification, cli)
  addNotificationRedeliver(notification, cli)
}

async function list(
  { db, clock }: Opened,
  { merchant, payment, from, to, ...rest }: Filter,
): Promise<Output> {
  if (from && to && from >= to) throw new CannotDo('refused', '--from must be before --to.')
  if (merchant) await merchantOf(db, merchant)
  const one = payment === undefined ? undefined : await onePayment(db, payment, merchant)
  const { notifications: found, until } = await newestNotifications(db, {
    ...rest,
    from,
    until: to,
    merchant_id: one?.merchant_id ?? merchant,
    tx_reference: one?.tx_reference,
  })
  const hints = hintsFor(found.map(({ last_result }) => last_result))
  const isNarrowed = [merchant, payment, from, to, rest.state].some(option => option !== undefined)
  const none = isNarrowed
    ? 'No notification is like that: leave out an option to see more.'
    : 'There are no notifications yet: the first comes when the status of a payment changes.'
  const goOn = `Older ones were not looked at, so that you do not wait: go on with --to ${until?.toISOString()}.`
  const parts = [
    found.length > 0 ? notificationTable(found, clock()) : until ? '' : none,
    hints.length > 0 ? paint('yellow', hints.join('\n')) : '',
    until ? paint('yellow', goOn) : '',
  ]
  return {
    data: { notifications: found.map(notificationData), hints, until },
    text: parts.filter(part => part !== '').join('\n\n'),
  }
}
