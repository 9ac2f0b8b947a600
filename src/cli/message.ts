import { Option } from 'commander'
import { auditedDb } from '../actions/access/audit.ts'
import { type ResendResult, sendReceiptAgain } from '../actions/messages/receipts.ts'
import { receiptEntry } from '../core/access/auditEntries.ts'
import { maskRecipient } from '../core/mask.ts'
import { addressesOf, customerMessageId, type Message } from '../core/message/message.ts'
import type { Medium } from '../core/message/messenger.ts'
import { withoutControls } from '../core/timeline/history.ts'
import { mediumNames, messageRules } from '../start/messages.ts'
import type { CommandContext } from './database.ts'
import { refused } from './failure.ts'
import { requireOriginalDatabase } from './originalDatabase.ts'
import type { CliCommand } from './cliCommand.ts'
import type { Output } from './output.ts'
import { requirePayment } from './paymentText.ts'
import { dateTime, table } from './terminal.ts'

type Options = { by?: Medium; merchant?: string }

export function addMessageCommands(program: CliCommand) {
  const message = program
    .command('message')
    .description('Send messages to customers again.')
    .examples('tollgate message resend AMA-1042')
  message
    .command('resend <reference>')
    .description(
      'Send the receipt of a paid payment again, by its reference or invoice id, to the phone number and the email ' +
        'address of the request. It counts towards the message limits and is in the timeline of the payment. ' +
        'tollgate payment show shows the result.',
    )
    .addOption(new Option('--by <medium>', 'only by this medium').choices(['sms', 'email']))
    .option('--merchant <id>', 'if several merchants use the same invoice id')
    .examples(
      'tollgate message resend TG-01KA9C-7M2QXH-0V4D1R',
      'tollgate message resend AMA-1042 --by email --merchant 7c2k9m0x4f',
    )
    .runWithDatabase(resend)
}

// Fails only if no message could be queued. If one of two could, the output has both.
async function resend(context: CommandContext, id: string, { by, merchant }: Options): Promise<Output> {
  await requireOriginalDatabase(context)
  const { db, clock, config, actor } = context
  const payment = await requirePayment(db, id, merchant)
  const { tx_reference } = payment
  const media = by ? [by] : addressesOf(payment).map(({ medium }) => medium)
  if (media.length === 0) throw refused(`${tx_reference} has neither a phone number nor an email address.`)
  const messages: { id: string; medium: Medium; to: string }[] = []
  const refusals: { medium: Medium; why: string }[] = []
  for (const medium of media) {
    const now = clock()
    const recorded = auditedDb(db, actor, now, ({ done }: ResendResult) =>
      done === 'queued' ? receiptEntry(payment, medium) : undefined,
    )
    const result = await sendReceiptAgain(recorded, payment, { medium }, messageRules(config), now)
    if (result.done === 'refused') refusals.push({ medium, why: result.reason })
    if (result.done !== 'queued') continue
    const message_id = customerMessageId(tx_reference, 'paid', medium, result.number)
    messages.push({ id: message_id, medium, to: maskRecipient(result.recipient) })
  }
  const reasons = refusals.map(({ medium, why }) => `No ${mediumNames[medium]}: ${why}`)
  if (messages.length === 0) throw refused(reasons.join(' '))
  const queued = messages.map(
    ({ medium, to }) => `The receipt of ${tx_reference} is sent to ${to} by ${mediumNames[medium]} again.`,
  )
  return {
    data: { tx_reference, messages, refused: refusals },
    text: [...queued, ...reasons].join('\n'),
  }
}

export const messageData = (message: Message) => ({
  id: message.message_id,
  medium: message.medium,
  topic: message.topic,
  to: maskRecipient(message.recipient),
  lang: message.lang,
  state: message.state,
  words: message.words,
  messenger: message.messenger,
  tries: message.tries,
  next_try_at: message.next_try_at,
  created_at: message.created_at,
  sent_at: message.sent_at,
  ended_at: message.ended_at,
})

export const messageTable = (messages: readonly Message[]) =>
  table(
    ['CREATED (UTC)', 'MEDIUM', 'TOPIC', 'TO', 'STATE', 'MESSENGER', 'TRIES', 'TEXT'],
    messages.map(message => [
      dateTime(message.created_at).slice(0, 16),
      message.medium,
      message.topic,
      maskRecipient(message.recipient),
      message.state,
      message.messenger,
      message.tries,
      withoutControls(message.words),
    ]),
    ['TRIES'],
  )
