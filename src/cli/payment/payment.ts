import type { Command } from 'commander'
import { messagesOf } from '../../actions/messages/sendReceiptAgain.ts'
import { notificationsOf } from '../../actions/notifications/findNotifications.ts'
import { explainPayment } from '../../actions/payments/explainPayment.ts'
import { newestPayments } from '../../actions/payments/findPayments.ts'
import type { Mode } from '../../core/mode.ts'
import type { Status } from '../../core/payment/payment.ts'
import { maskKnownNumbers } from '../../core/timeline/history.ts'
import { merchantOf, type Opened, withDatabase } from '../database.ts'
import { examples } from '../help.ts'
import { messageData, messageTable } from '../message/text.ts'
import { notificationData, shortTable } from '../notification/text.ts'
import { onePayment } from '../onePayment.ts'
import type { Cli, Output } from '../output.ts'
import { facts, heading, paint } from '../terminal.ts'
import { modeOption, readLimit, readReference, statusOption } from '../values.ts'
import { addPaymentRequest } from './request.ts'
import { allFacts, attemptData, paymentData, paymentTable } from './text.ts'
import { storyText } from './timeline.ts'

type Filter = {
  merchant?: string
  mode?: Mode
  status?: Status
  outlet?: string
  before?: string
  limit: number
}

export function addPaymentCommands(program: Command, cli: Cli) {
  const payment = program
    .command('payment')
    .description('Look at payments, and request one.')
    .addHelpText('after', examples('tollgate payment list --limit 5', 'tollgate payment show AMA-1042'))
  payment
    .command('show <reference>')
    .description(
      'Show a payment by its reference or invoice id: the facts, what happened, who said so, what happens ' +
        'next, what the merchant was told and what the customer was sent. Phone numbers and email addresses are masked.',
    )
    .option('--merchant <id>', 'when several merchants use the same invoice id')
    .addHelpText(
      'after',
      examples(
        'tollgate payment show TG-01KA9C-7M2QXH-0V4D1R',
        'tollgate payment show AMA-1042 --merchant 7c2k9m0x4f',
      ),
    )
    .action(async (word: string, { merchant }: { merchant?: string }) =>
      cli.print(await withDatabase(database => show(database, word, merchant))),
    )
  payment
    .command('list')
    .description('List the newest payments first.')
    .option('--merchant <id>', 'only those of this merchant')
    .addOption(modeOption('only those of this mode'))
    .addOption(statusOption('only those that stand so'))
    .option('--outlet <code>', 'only those of this outlet')
    .option('--before <reference>', 'only older ones than this payment', readReference)
    .option('--limit <count>', 'at most so many', readLimit, 20)
    .addHelpText(
      'after',
      examples(
        'tollgate payment list',
        'tollgate payment list --merchant 7c2k9m0x4f --mode live --status paid',
      ),
    )
    .action(async (filter: Filter) => cli.print(await withDatabase(database => list(database, filter))))
  addPaymentRequest(payment, cli)
}

async function show({ db, clock }: Opened, word: string, merchant_id?: string): Promise<Output> {
  const payment = await onePayment(db, word, merchant_id)
  const now = clock()
  const explained = await explainPayment(db, payment, now)
  const told = await notificationsOf(db, payment)
  const sent = await messagesOf(db, payment)
  const { attempts, moments, next } = explained
  const data = {
    ...paymentData(payment),
    psp_response_msg: payment.psp_response_msg && maskKnownNumbers(payment.psp_response_msg, explained),
    merchant_name: explained.merchant.name,
    attempts: attempts.map(attempt => attemptData(attempt, explained)),
    events: moments,
    next,
    notifications: told.map(notificationData),
    messages: sent.map(messageData),
  }
  const columns = process.stdout.columns || Number.POSITIVE_INFINITY // a file or a pipe breaks no line
  const text = [facts(allFacts(explained)), storyText(explained, columns)]
  if (told.length > 0) text.push(`${heading('Notifications')}\n${shortTable(told, now).replace(/^/gm, '  ')}`)
  if (sent.length > 0) text.push(`${heading('Messages')}\n${messageTable(sent).replace(/^/gm, '  ')}`)
  return { data, text: text.join('\n\n') }
}

async function list({ db }: Opened, { merchant, ...filter }: Filter): Promise<Output> {
  if (merchant) await merchantOf(db, merchant)
  const { payments, before } = await newestPayments(db, { ...filter, merchant_id: merchant })
  const narrowed = merchant ?? filter.mode ?? filter.status ?? filter.outlet
  const none = narrowed
    ? 'No payment is like that: leave out an option to see more.'
    : 'There are no payments yet: tollgate start prints a request to try.'
  const goOn = `Older ones were not looked at, so that you do not wait: go on with --before ${before}.`
  const text = payments.length > 0 ? paymentTable(payments) : before ? '' : none
  return {
    data: { payments: payments.map(paymentData), before },
    text: [text, ...(before ? [paint('yellow', goOn)] : [])].filter(Boolean).join('\n\n'),
  }
}
