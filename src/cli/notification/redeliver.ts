import { type Command, Option } from 'commander'
import { findNotification } from '../../actions/notifications/findNotifications.ts'
import { type Redelivered, redeliver, redeliverAll } from '../../actions/notifications/redeliver.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { merchantOf, type Opened, withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { fromOption, toOption } from '../values.ts'
import { noNotification } from './show.ts'

const states = ['exhausted', 'acknowledged', 'all'] as const
type Wish = { merchant?: string; from?: Date; to?: Date; state?: (typeof states)[number] }

export function addNotificationRedeliver(notification: Command, cli: Cli) {
  notification
    .command('redeliver [id]')
    .description(
      'Send a notification again, or all of a merchant and a time: the same id and the same bytes, from the start ' +
        'of the schedule, to the address that is set now. Nothing is asked first.',
    )
    .option('--merchant <id>', 'whose, for all of a time')
    .addOption(fromOption())
    .addOption(toOption())
    .addOption(
      new Option(
        '--state <state>',
        'which of that time; all has those, too, that had no address to go to (default: exhausted)',
      ).choices(states),
    )
    .addHelpText(
      'after',
      examples(
        'tollgate notification redeliver TG-01KA9C-7M2QXH-0V4D1R-N1',
        'tollgate notification redeliver --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-02',
        'tollgate notification redeliver --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-02 --state all',
      ),
    )
    .action(async (id: string | undefined, wish: Wish) =>
      cli.print(
        await withDatabase(database => (id === undefined ? all(database, wish) : one(database, id, wish))),
      ),
    )
}

async function one({ db, clock }: Opened, word: string, wish: Wish): Promise<Output> {
  if (Object.keys(wish).length > 0)
    throw new CannotDo(
      'refused',
      'Give the id of one notification, or --merchant, --from and --to; not both.',
    )
  const told = await findNotification(db, word)
  const done = told && (await redeliver(db, told, clock()))
  if (!told || !done) throw noNotification(word)
  const id = notificationId(told)
  const { being_sent, no_address, left_out } = done
  if (being_sent)
    throw new CannotDo('refused', `${id} is being sent at this moment: see what comes of it first.`)
  if (no_address)
    throw new CannotDo('refused', `${id} has no address to go to: ${setUrl(told.merchant_id)} gives one.`)
  if (left_out)
    throw new CannotDo('refused', `${id} is not sent: ipn_style is basic, which leaves out awaiting_payment.`)
  return { data: { id, ...done }, text: `${id} is due now: a running gateway sends it within a second.` }
}

const setUrl = (merchant_id: string) => `tollgate merchant set ${merchant_id} ipn_url=URL`

async function all(
  { db, clock }: Opened,
  { merchant, from, to, state = 'exhausted' }: Wish,
): Promise<Output> {
  if (!merchant || !from || !to)
    throw new CannotDo(
      'refused',
      'Say which: the id of one notification, or --merchant, --from and --to together.',
    )
  if (from >= to) throw new CannotDo('refused', '--from must be before --to.')
  const { merchant_id, name } = await merchantOf(db, merchant)
  const done = await redeliverAll(db, { merchant_id, from, until: to, state }, clock())
  return {
    data: { merchant_id, from, until: to, state, ...done },
    text: tell(name, merchant_id, state, done),
  }
}

const count = (many: number) => (many === 1 ? '1 notification' : `${many} notifications`)
const are = (many: number) => (many === 1 ? 'is' : 'are')
const were = (many: number) => (many === 1 ? 'was' : 'were')
const have = (many: number) => (many === 1 ? 'has' : 'have')

function tell(name: string, merchant_id: string, state: string, done: Redelivered): string {
  const { redelivered, being_sent, no_address, left_out } = done
  const which = state === 'all' ? '' : `${state} `
  if (redelivered + being_sent + no_address + left_out === 0)
    return `${name} has no ${which}notification of that time.${state === 'all' ? '' : ' --state all takes every one.'}`
  return [
    `${count(redelivered)} of ${name} ${are(redelivered)} due now${redelivered > 0 ? ': a running gateway sends them in turn' : ''}.`,
    being_sent > 0 &&
      `${being_sent} ${are(being_sent)} being sent at this moment and ${were(being_sent)} left alone.`,
    no_address > 0 &&
      `${no_address} ${have(no_address)} no address to go to: ${setUrl(merchant_id)} gives one.`,
    left_out > 0 &&
      `${left_out} ${are(left_out)} not sent: ipn_style is basic, which leaves out awaiting_payment.`,
  ]
    .filter(line => line !== false)
    .join('\n')
}
