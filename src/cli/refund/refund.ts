import { Option } from 'commander'
import { auditedRefunds } from '../../actions/refunds/auditedRefunds.ts'
import { type CreateRefundResult, requestRefundLater } from '../../actions/refunds/createRefund.ts'
import { listWaitingApprovals } from '../../actions/refunds/listApprovals.ts'
import { retryRefund } from '../../actions/refunds/retryRefund.ts'
import { storeRefundRecord } from '../../actions/refunds/storeRefundRecord.ts'
import { type Currency, formatMoney, parseMoney } from '../../core/money.ts'
import type { Mode } from '../../core/mode.ts'
import type { TaskKind } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import {
  type Refund,
  type RefundFault,
  type RefundSource,
  refundSources,
  type RefundState,
  refundStates,
} from '../../core/refund/refund.ts'
import type { RefundRecord } from '../../core/refund/recordRefund.ts'
import { moneyText } from '../../core/timeline/history.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import { findRefundByReference } from '../../store/refunds/merchantRefunds.ts'
import { newestRefunds } from '../../store/refunds/refunds.ts'
import type { CliCommand } from '../cliCommand.ts'
import { commandRuntime } from '../commandRuntime.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { requireOriginalDatabase } from '../originalDatabase.ts'
import { CommandError, notFound, refused } from '../failure.ts'
import type { Output } from '../output.ts'
import { requirePayment } from '../paymentText.ts'
import { openAccounts } from '../provider/accountSetup.ts'
import { paragraphs } from '../terminal.ts'
import { modeOption, readInstant, readLimit, readName, readNote } from '../values.ts'
import { approvalData, approvalTable, refundData, refundFacts, refundTable } from './text.ts'

type CreateOptions = {
  by: string
  amount?: string
  reason?: string
  attempt?: number
  source?: RefundSource
  task?: TaskKind
  merchant?: string
}
type ListOptions = { merchant?: string; mode?: Mode; state?: RefundState; limit: number }
type RecordOptions = {
  by: string
  at?: Date
  reference?: string
  failed?: true
  note?: string
  merchant?: string
}

const byOption = () =>
  new Option('--by <name>', 'who you are; stored with the refund').argParser(readName).makeOptionMandatory()

export function addRefundCommands(program: CliCommand) {
  const refund = program
    .command('refund')
    .description('Refund payments, and record refunds that were made by hand.')
    .examples('tollgate refund list', 'tollgate refund create AMA-1042 --by Esi')
  addCreate(refund)
  addRecord(refund)
  refund
    .command('list')
    .description('List refunds, newest first.')
    .option('--merchant <id>', 'only those of this merchant')
    .addOption(modeOption('only those of this mode'))
    .addOption(new Option('--state <state>', 'only those in this state').choices(refundStates))
    .option('--limit <count>', 'how many at most', readLimit, 20)
    .examples('tollgate refund list', 'tollgate refund list --state needs_action')
    .runWithDatabase(list)
  refund
    .command('approvals')
    .description(
      'List the refunds that wait for the approval of a second person, the oldest first. They are approved or rejected ' +
        'on the dashboard.',
    )
    .option('--merchant <id>', 'only those of this merchant')
    .examples('tollgate refund approvals', 'tollgate refund approvals --merchant 7c2k9m0x4f --json')
    .runWithDatabase(listApprovals)
  refund
    .command('show <refund>')
    .description("Show a refund by its reference or the merchant's refund_id.")
    .option('--merchant <id>', 'if several merchants use the same refund_id')
    .examples('tollgate refund show 7c2k9m0x4f01ka9c7m2qxh0v4d1r5t8w2y3z')
    .runWithDatabase(show)
  refund
    .command('retry <refund>')
    .description(
      'Request a failed refund again, as a new refund of the same amount. In every other state the money may have ' +
        'moved, so it is refused.',
    )
    .addOption(byOption())
    .option('--merchant <id>', 'if several merchants use the same refund_id')
    .examples('tollgate refund retry 7c2k9m0x4f01ka9c7m2qxh0v4d1r5t8w2y3z --by Esi')
    .runWithMasterKeys(retry)
}

function addCreate(refund: CliCommand) {
  refund
    .command('create <reference>')
    .description(
      'Refund a payment, by its reference or invoice id: all that is left of it, or --amount. --task refunds exactly ' +
        'the charge of that task. The gateway sends the refund to the provider; if the provider has no refunds, it ' +
        'waits until you have paid it back and recorded it.',
    )
    .addOption(byOption())
    .option('--amount <amount>', 'such as 10.00 (default: all that is left)')
    .option('--reason <text>', 'shown to the merchant', readNote)
    .addOption(
      new Option('--task <kind>', 'refund the charge of this open task').choices([
        'refund',
        'amount_mismatch',
      ]),
    )
    .option('--attempt <number>', 'another charge than the one that paid the payment', readLimit)
    .addOption(
      new Option(
        '--source <source>',
        'the payment’s amount, money that it did not need, or a fee that the customer bore',
      ).choices(refundSources),
    )
    .option('--merchant <id>', 'if several merchants use the same invoice id')
    .examples(
      'tollgate refund create TG-01KA9C-7M2QXH-0V4D1R --by Esi',
      "tollgate refund create AMA-1042 --amount 10.00 --reason 'One item returned' --by Esi",
      'tollgate refund create AMA-1042 --task refund --by Esi',
    )
    .runWithMasterKeys(create)
}

function addRecord(refund: CliCommand) {
  refund
    .command('record <refund>')
    .description(
      'Record what became of a refund that waits for an operator or is unknown: paid back at a time by a reference, or ' +
        'with --failed that it will not be made, which frees its amount.',
    )
    .addOption(byOption())
    .option('--at <time>', 'when it was paid back, such as 2026-05-31T18:00:00Z', readInstant)
    .option('--reference <text>', 'of the payment back, at the bank or the provider', readName)
    .option('--failed', 'it was not made, and will not be')
    .option('--note <text>', 'with --failed: why; shown to the merchant', readNote)
    .option('--merchant <id>', 'if several merchants use the same refund_id')
    .examples(
      'tollgate refund record 7c2k9m0x4f01ka9c7m2qxh0v4d1r5t8w2y3z --at 2026-05-31 --reference FT-7781 --by Esi',
      "tollgate refund record R-1042 --failed --note 'The bank account is closed.' --by Esi",
    )
    .runWithDatabase(record)
}

async function create(context: CommandContext, id: string, options: CreateOptions): Promise<Output> {
  const { db } = context
  const payment = await requirePayment(db, id, options.merchant)
  const { merchant_id, tx_reference, mode, currency, paid_attempt_id } = payment
  const attempt_number = options.task
    ? await attemptOfTask(db, payment, options.task, options.attempt)
    : options.attempt
  const attempts = await attemptsOf(db, merchant_id, tx_reference)
  const charge = attempts.find(({ number }) => number === attempt_number)
  const isOther = charge !== undefined && charge.attempt_id !== paid_attempt_id
  const deps = await refundDeps(context, 'refund.create')
  const result = await requestRefundLater(deps, {
    merchant_id,
    mode,
    payment: { tx_reference },
    attempt_number,
    refund_id: null,
    amount: options.amount === undefined ? 'left' : readAmount(options.amount, currency),
    source: options.source ?? (isOther ? 'surplus' : 'payment'),
    reason: options.reason ?? '',
    by: { requested_by: 'operator', operator: options.by },
  })
  return resultOf(result, payment)
}

// A runtime that records the refund in the audit log.
async function refundDeps(context: CommandContext, action: 'refund.create' | 'refund.retry') {
  await requireOriginalDatabase(context)
  const { db, actor, clock } = context
  const recorded = auditedRefunds(db, actor, clock(), action)
  return commandRuntime({ ...context, db: recorded }, await openAccounts(context))
}

function readAmount(text: string, currency: Currency): bigint {
  const amount = parseMoney(text, currency)
  if (typeof amount === 'bigint') return amount
  throw refused(`--amount: ${amount}.`)
}

// The charge that an open task is about.
async function attemptOfTask(db: Db, payment: Payment, kind: TaskKind, number?: number): Promise<number> {
  const { merchant_id, tx_reference } = payment
  const attempts = await attemptsOf(db, merchant_id, tx_reference)
  const open = (await tasksOf(db, merchant_id, tx_reference)).filter(
    task => task.kind === kind && task.closed_at === null,
  )
  const numbers = attempts
    .filter(({ attempt_id }) => open.some(task => task.attempt_id === attempt_id))
    .map(attempt => attempt.number)
    .filter(one => number === undefined || one === number)
  const [first, ...others] = numbers
  if (first === undefined)
    throw notFound(`${tx_reference} has no open ${kind} task: tollgate task list shows them.`)
  if (others.length > 0)
    throw new CommandError(
      'ambiguous',
      `Attempts ${numbers.join(' and ')} of ${tx_reference} have an open ${kind} task: give --attempt.`,
      { data: { attempts: numbers } },
    )
  return first
}

function resultOf(result: CreateRefundResult, { currency }: Pick<Payment, 'currency'>): Output {
  if ('fault' in result)
    throw refused(`The refund was not stored: ${faultText(result, currency)}`, {
      data: { refusal: { code: result.fault } },
    })
  const { refund } = result
  const next =
    refund.kind === 'manual'
      ? `The provider has no refunds: pay it back by other means, then tollgate refund record ${refund.refund_reference}.`
      : `The gateway sends it: tollgate refund show ${refund.refund_reference} has the result.`
  return { data: refundData(refund), text: paragraphs(`The refund is stored. ${next}`, refundFacts(refund)) }
}

function faultText(fault: RefundFault, currency: Currency): string {
  const money = (amount: bigint) => `${currency} ${formatMoney(amount, currency)}`
  if (fault.fault === 'more_than_left')
    return `${money(fault.left)} of it can be refunded. Another charge or the surplus need --attempt or --source.`
  if (fault.fault === 'over_daily_limit')
    return `the merchant's limit of this day leaves ${money(fault.left)}.`
  if (fault.fault === 'too_old')
    return `the provider refunds no charges that are older than ${fault.days} days.`
  if (fault.fault === 'below_minimum') return `the provider refunds at least ${money(fault.minimum)}.`
  if (fault.fault === 'only_whole')
    return `the provider refunds only the whole charge, ${money(fault.amount)}.`
  if (fault.fault === 'other_fields')
    return `the refund_id belongs to the refund ${fault.stored.refund_reference}.`
  return plainFaults[fault.fault]
}

const plainFaults = {
  no_such_payment: 'there is no such payment.',
  not_paid: 'this attempt took no money.',
  not_allowed:
    'the charge is in another currency than the payment. Refund it at the provider, then close its task.',
}

async function requireRefund(db: Db, id: string, merchant_id?: string): Promise<Refund> {
  if (merchant_id) await requireMerchant(db, merchant_id)
  const own = /^[0-9a-z]{36}$/.test(id)
    ? await findRefundByReference(db, { merchant_id: merchantOfToken(id), refund_reference: id })
    : undefined
  if (own) return own
  const found = await newestRefunds(db, { merchant_id, refund_id: id, limit: 20 })
  const [refund] = found
  if (!refund) throw notFound(`No refund has the reference or refund_id ${id}.`)
  if (found.length > 1)
    throw new CommandError(
      'ambiguous',
      `${found.length} refunds have the refund_id ${id}: give --merchant, or the reference of one.`,
      { shown: refundTable(found), data: { refunds: found.map(refundData) } },
    )
  return refund
}

async function list({ db }: CommandContext, { merchant, ...filter }: ListOptions): Promise<Output> {
  if (merchant) await requireMerchant(db, merchant)
  const refunds = await newestRefunds(db, { ...filter, merchant_id: merchant })
  return {
    data: { refunds: refunds.map(refundData) },
    text: refunds.length > 0 ? refundTable(refunds) : 'There are no such refunds.',
  }
}

async function listApprovals(
  { db, clock }: CommandContext,
  { merchant: merchant_id }: { merchant?: string },
): Promise<Output> {
  const now = clock()
  if (merchant_id) await requireMerchant(db, merchant_id)
  const approvals = merchant_id
    ? [
        ...(await listWaitingApprovals(db, { merchant_id, mode: 'live' }, now)),
        ...(await listWaitingApprovals(db, { merchant_id, mode: 'test' }, now)),
      ]
    : await listWaitingApprovals(db, 'all', now)
  return {
    data: { approvals: approvals.map(approvalData) },
    text: approvals.length > 0 ? approvalTable(approvals) : 'No refund waits for an approval.',
  }
}

async function show(
  { db }: CommandContext,
  id: string,
  { merchant }: { merchant?: string },
): Promise<Output> {
  const refund = await requireRefund(db, id, merchant)
  return { data: refundData(refund), text: refundFacts(refund) }
}

async function record(
  { db, clock, actor }: CommandContext,
  id: string,
  options: RecordOptions,
): Promise<Output> {
  const refund = await requireRefund(db, id, options.merchant)
  const now = clock()
  const deps = { db: auditedRefunds(db, actor, now, 'refund.record'), localWorkers: {}, watch: () => {} }
  const recorded = await storeRefundRecord(deps, refund, recordOf(options, now), now)
  if (recorded.done === 'refused')
    throw refused(
      `The refund is ${recorded.refund.state}: only a refund in needs_action or unknown is recorded by hand.`,
      { data: { state: recorded.refund.state } },
    )
  const { state, amount, currency } = recorded.refund
  const text = `The refund of ${moneyText(currency, amount)} is recorded as ${state}.`
  return { data: refundData(recorded.refund), text }
}

function recordOf({ by, at, reference, failed, note }: RecordOptions, now: Date): RefundRecord {
  if (failed) {
    if (!note) throw refused('--failed needs --note.')
    return { by, outcome: { done: 'failed', note } }
  }
  if (!at || !reference) throw refused('Give --at and --reference, or --failed and --note.')
  if (at > now) throw refused('--at must not be in the future.')
  return { by, outcome: { done: 'succeeded', at, reference } }
}

async function retry(
  context: CommandContext,
  id: string,
  { by, merchant }: { by: string; merchant?: string },
): Promise<Output> {
  const failed = await requireRefund(context.db, id, merchant)
  const deps = await refundDeps(context, 'refund.retry')
  const result = await retryRefund(deps, failed, by)
  if ('fault' in result && result.fault === 'not_failed') {
    const { state } = result.refund
    throw refused(`The refund is ${state}: only a failed refund is requested again.`, { data: { state } })
  }
  return resultOf(result, failed)
}
