import type { Command } from 'commander'
import { newestPayments, searchEverywhere } from '../actions/findPayments.ts'
import type { Mode, Payment, Status } from '../core/payment.ts'
import { findMerchant } from '../store/merchants.ts'
import type { Answer, Cli } from './answer.ts'
import { CannotDo } from './failure.ts'
import { examples } from './help.ts'
import { amount, paymentData, paymentFacts } from './paymentText.ts'
import { merchantOf, type Opened, withRecords } from './records.ts'
import { dateTime, facts, table } from './terminal.ts'
import { modeOption, readLimit, statusOption } from './values.ts'

type Filter = { merchant?: string; mode?: Mode; status?: Status; outlet?: string; limit: number }

export function addPaymentCommands(program: Command, cli: Cli) {
  const payment = program
    .command('payment')
    .description('Look at payments.')
    .addHelpText('after', examples('tollgate payment list --limit 5', 'tollgate payment show AMA-1042'))
  payment
    .command('show <reference>')
    .description(
      'Show a payment by its reference or invoice id. Phone numbers and email addresses are masked.',
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
      cli.print(await withRecords(records => show(records, word, merchant))),
    )
  payment
    .command('list')
    .description('List the newest payments first.')
    .option('--merchant <id>', 'only those of this merchant')
    .addOption(modeOption('only those of this mode'))
    .addOption(statusOption('only those that stand so'))
    .option('--outlet <code>', 'only those of this outlet')
    .option('--limit <count>', 'at most so many', readLimit, 20)
    .addHelpText(
      'after',
      examples(
        'tollgate payment list',
        'tollgate payment list --merchant 7c2k9m0x4f --mode live --status paid',
      ),
    )
    .action(async (filter: Filter) => cli.print(await withRecords(records => list(records, filter))))
}

async function show({ db }: Opened, word: string, merchant_id?: string): Promise<Answer> {
  if (merchant_id) await merchantOf(db, merchant_id)
  const found = (await searchEverywhere(db, asStored(word), merchant_id)).sort(newestFirst)
  const [payment] = found
  if (!payment) throw new CannotDo('not_found', `No payment has the reference or invoice id ${word}.`)
  if (found.length > 1)
    throw new CannotDo(
      'ambiguous',
      `${found.length} payments have the invoice id ${word}: give --merchant, or the reference of one.`,
      { shown: paymentTable(found), data: { payments: found.map(paymentData) } },
    )
  const merchant = await findMerchant(db, payment.merchant_id)
  return { data: paymentData(payment), text: facts(paymentFacts(payment, merchant?.name ?? '')) }
}

const newestFirst = (a: Payment, b: Payment) => b.created_at.getTime() - a.created_at.getTime()

// References are read out on the phone, so nobody minds their letter case.
const asStored = (word: string) =>
  /^tg-[0-9a-z]{6}-[0-9a-z]{6}-[0-9a-z]{6}$/i.test(word) ? word.toUpperCase() : word

async function list({ db }: Opened, { merchant, ...filter }: Filter): Promise<Answer> {
  if (merchant) await merchantOf(db, merchant)
  const payments = await newestPayments(db, { ...filter, merchant_id: merchant })
  const narrowed = merchant ?? filter.mode ?? filter.status ?? filter.outlet
  const none = narrowed
    ? 'No payment is like that: leave out an option to see more.'
    : 'There are no payments yet: tollgate start prints a request to try.'
  return {
    data: { payments: payments.map(paymentData) },
    text: payments.length > 0 ? paymentTable(payments) : none,
  }
}

function paymentTable(payments: readonly Payment[]): string {
  const titles = ['REFERENCE', 'INVOICE', 'STATUS', 'AMOUNT', 'MODE', 'MERCHANT', 'CREATED']
  return table(
    titles.map(title => ({ title, right: title === 'AMOUNT' })),
    payments.map(payment => [
      payment.tx_reference,
      payment.invoice_id,
      payment.status,
      amount(payment),
      payment.mode,
      payment.merchant_id,
      dateTime(payment.created_at),
    ]),
  )
}
