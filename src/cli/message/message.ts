import { type Command, Option } from 'commander'
import { sendReceiptAgain } from '../../actions/messages/receipts.ts'
import { maskRecipient } from '../../core/mask.ts'
import { addressesOf, customerMessageId } from '../../core/message/message.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { messageRules } from '../../start/messages.ts'
import { type Opened, withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import { onePayment } from '../onePayment.ts'
import type { Cli, Output } from '../output.ts'

type Wish = { by?: Medium; merchant?: string }

export function addMessageCommands(program: Command, cli: Cli) {
  const message = program
    .command('message')
    .description('Tell a customer again.')
    .addHelpText('after', examples('tollgate message resend AMA-1042'))
  message
    .command('resend <reference>')
    .description(
      'Send the receipt of a paid payment again, by its reference or invoice id, to the phone number and the email ' +
        'address that came with the request. It counts in the caps, and the story of the payment tells it. ' +
        'tollgate payment show says what became of it.',
    )
    .addOption(new Option('--by <medium>', 'by this alone').choices(['sms', 'email']))
    .option('--merchant <id>', 'when several merchants use the same invoice id')
    .addHelpText(
      'after',
      examples(
        'tollgate message resend TG-01KA9C-7M2QXH-0V4D1R',
        'tollgate message resend AMA-1042 --by email --merchant 7c2k9m0x4f',
      ),
    )
    .action(async (word: string, wish: Wish) =>
      cli.print(await withDatabase(database => resend(database, word, wish))),
    )
}

type Queued = { id: string; medium: Medium; to: string }
type Refused = { medium: Medium; why: string }

// Where none could be sent it fails; where one of two could, it says both.
async function resend({ db, clock, config }: Opened, word: string, { by, merchant }: Wish): Promise<Output> {
  const payment = await onePayment(db, word, merchant)
  const { tx_reference } = payment
  const media = by ? [by] : addressesOf(payment).map(({ medium }) => medium)
  if (media.length === 0)
    throw new CannotDo('refused', `${tx_reference} has neither a phone number nor an email address.`)
  const messages: Queued[] = []
  const refused: Refused[] = []
  for (const medium of media) {
    const came = await sendReceiptAgain(db, payment, { medium }, messageRules(config), clock())
    if (came.done === 'refused') refused.push({ medium, why: came.words })
    if (came.done !== 'queued') continue
    const id = customerMessageId(tx_reference, 'paid', medium, came.number)
    messages.push({ id, medium, to: maskRecipient(came.recipient) })
  }
  const whyNot = refused.map(({ medium, why }) => `No ${names[medium]}: ${why}`)
  if (messages.length === 0) throw new CannotDo('refused', whyNot.join(' '))
  const queued = messages.map(
    ({ medium, to }) => `The receipt of ${tx_reference} goes to ${to} by ${names[medium]} again.`,
  )
  return { data: { tx_reference, messages, refused }, text: [...queued, ...whyNot].join('\n') }
}

const names: Record<Medium, string> = { sms: 'SMS', email: 'email' }
