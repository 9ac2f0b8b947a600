import { sentNotificationsOf } from '../../actions/notifications/findNotifications.ts'
import { customerMessagesOf } from '../../actions/messages/receipts.ts'
import { explainPayment } from '../../actions/payments/explainPayment.ts'
import { newestPayments } from '../../actions/payments/findPayments.ts'
import type { Mode } from '../../core/mode.ts'
import type { Status } from '../../core/payment/payment.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import type { CliCommand } from '../cliCommand.ts'
import { messageData, messageTable } from '../message.ts'
import { notificationData, shortNotificationTable } from '../notification/text.ts'
import { maskKnownNumbers } from '../../core/timeline/history.ts'
import { notificationStates, verdict, type Verdict } from '../../core/timeline/verdict.ts'
import { type Output, pick } from '../output.ts'
import { facts, indented, paint, paragraphs, section } from '../terminal.ts'
import { modeOption, readReference, readLimit, statusOption } from '../values.ts'
import { addPaymentRequest } from './request.ts'
import { allFacts, attemptData, paymentData, paymentTable, requirePayment } from '../paymentText.ts'
import { refundData, refundTable } from '../refund/text.ts'
import { timelineText } from './timeline.ts'

type Filter = {
  merchant?: string
  mode?: Mode
  status?: Status
  outlet?: string
  before?: string
  limit: number
}

export function addPaymentCommands(program: CliCommand) {
  const payment = program
    .command('payment')
    .description('Show, list and request payments.')
    .examples('tollgate payment list --limit 5', 'tollgate payment show AMA-1042')
  payment
    .command('show <reference>')
    .description(
      'Show a payment by its reference or invoice id: whether it is paid and the shop has acknowledged, its facts, attempts and timeline, what happens next, notifications ' +
        'to the merchant and messages to the customer. Phone numbers and email addresses are masked.',
    )
    .option('--merchant <id>', 'if several merchants use the same invoice id')
    .examples(
      'tollgate payment show TG-01KA9C-7M2QXH-0V4D1R',
      'tollgate payment show AMA-1042 --merchant 7c2k9m0x4f',
    )
    .runWithDatabase(show)
  payment
    .command('list')
    .description('List payments, newest first.')
    .option('--merchant <id>', 'only those of this merchant')
    .addOption(modeOption('only those of this mode'))
    .addOption(statusOption('only those with this status'))
    .option('--outlet <code>', 'only those of this outlet')
    .option('--before <reference>', 'only payments older than this one', readReference)
    .option('--limit <count>', 'how many at most', readLimit, 20)
    .examples(
      'tollgate payment list',
      'tollgate payment list --merchant 7c2k9m0x4f --mode live --status paid',
    )
    .runWithDatabase(list)
  addPaymentRequest(payment)
}

async function show(
  { db, clock }: CommandContext,
  id: string,
  { merchant }: { merchant?: string },
): Promise<Output> {
  const payment = await requirePayment(db, id, merchant)
  const now = clock()
  const explained = await explainPayment(db, payment, now)
  const notifications = await sentNotificationsOf(db, payment)
  const messages = await customerMessagesOf(db, payment)
  const summary = verdict(explained, notificationStates(notifications), messages, now)
  const data = {
    ...paymentData(payment),
    verdict: pick(summary, 'title', 'reason'),
    psp_response_msg: payment.psp_response_msg && maskKnownNumbers(payment.psp_response_msg, explained),
    merchant_name: explained.merchant.name,
    attempts: explained.attempts.map(attempt => attemptData(attempt, explained)),
    refunds: explained.refunds.map(refundData),
    events: explained.moments.map(moment => pick(moment, 'at', 'who', 'words')),
    next: explained.next,
    notifications: notifications.map(notificationData),
    messages: messages.map(messageData),
  }
  const columns = process.stdout.columns || Number.POSITIVE_INFINITY // lines are not wrapped in a file or a pipe
  const text = paragraphs(
    verdictText(summary),
    facts(allFacts(explained)),
    timelineText(explained, columns),
    explained.refunds.length > 0 && section('Refunds', indented(refundTable(explained.refunds))),
    notifications.length > 0 &&
      section('Notifications', indented(shortNotificationTable(notifications, now))),
    messages.length > 0 && section('Messages', indented(messageTable(messages))),
  )
  return { data, text }
}

const colours = { ok: 'green', off: 'bold', warn: 'yellow', bad: 'red' } as const

const verdictText = ({ tone, title, reason }: Verdict) =>
  [paint(colours[tone], title), reason].filter(Boolean).join('\n')

async function list({ db }: CommandContext, { merchant, ...filter }: Filter): Promise<Output> {
  if (merchant) await requireMerchant(db, merchant)
  const { payments, before } = await newestPayments(db, { ...filter, merchant_id: merchant })
  const isNarrowed = merchant ?? filter.mode ?? filter.status ?? filter.outlet
  const none = isNarrowed
    ? 'No payment matches: remove an option to see more.'
    : 'There are no payments yet: tollgate start prints a request to try.'
  const more = `The search stopped before older ones: continue with --before ${before}.`
  return {
    data: { payments: payments.map(paymentData), before },
    text: paragraphs(
      payments.length > 0 && paymentTable(payments),
      payments.length === 0 && !before && none,
      before && paint('yellow', more),
    ),
  }
}
