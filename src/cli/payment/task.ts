import { auditedDb } from '../../actions/access/audit.ts'
import { nameMerchants } from '../../actions/merchants/setMerchant.ts'
import { Option } from 'commander'
import {
  describeUnreadable,
  unreadableSecrets,
  unreadableTodo,
} from '../../actions/installation/unreadableSecrets.ts'
import { type CloseTaskResult, closeTask } from '../../actions/payments/closeTask.ts'
import { closedTaskEntry } from '../../core/access/auditEntries.ts'
import { figureIn } from '../../core/money.ts'
import { type Task, type TaskKind, taskKinds } from '../../core/payment/change.ts'
import { moneyText } from '../../core/timeline/history.ts'
import { countOpenTasks, openTasks } from '../../store/payments/tasks.ts'
import type { CommandContext } from '../database.ts'
import { CommandError, notFound } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { dateTime, type Fact, facts, paragraphs, section, table } from '../terminal.ts'
import { readLimit, readNote } from '../values.ts'
import { requirePayment } from '../paymentText.ts'

type Options = { merchant?: string; kind: TaskKind; note: string; attempt?: number }

export function addTaskCommands(program: CliCommand) {
  const task = program
    .command('task')
    .description('List the tasks that need an operator, and close them.')
    .examples('tollgate task list')
  task
    .command('list')
    .description('List the open tasks, oldest first, and what to do.')
    .option('--limit <count>', 'how many at most', readLimit, 20)
    .examples('tollgate task list', 'tollgate task list --json')
    .runWithDatabase(list)
  task
    .command('close <reference>')
    .description(
      'Close a task of a payment, by its reference or invoice id. Closing an amount_mismatch, reference_taken or ' +
        'unresolved task also gives up its attempt if the provider has not ended it: the payment becomes failed, or ' +
        'cancelled if the customer asked for that, and can be tried again until it expires. Deal with the money first.',
    )
    .addOption(
      new Option('--kind <kind>', 'which task').choices(Object.keys(taskKinds)).makeOptionMandatory(),
    )
    .requiredOption('--note <text>', 'what you found and did; stored with the payment', readNote)
    .option('--attempt <number>', 'if several attempts have such a task', readLimit)
    .option('--merchant <id>', 'if several merchants use the same invoice id')
    .examples(
      "tollgate task close TG-01KA9C-7M2QXH-0V4D1R --kind refund --note 'Refunded in the portal, 2 May.'",
    )
    .runWithDatabase(close)
}

const todo: Record<TaskKind, string> = {
  refund: 'Refund it: tollgate refund create REFERENCE --task refund --by NAME',
  amount_mismatch: 'Refund it: tollgate refund create REFERENCE --task amount_mismatch',
  unresolved: 'Ask the provider; tollgate payment show has its reference.',
  other_order: 'Ask the provider why. Only a reply about this order counts; polling continues.',
  reference_taken:
    'Ask the provider which of the two payments the money is for; tollgate payment show has more.',
  reversed: 'Inform the merchant: it may want its goods back. The payment stays paid.',
  dispute_opened: 'Answer the provider in time, with evidence from the merchant. No money has moved yet.',
  dispute_lost: 'Inform the merchant: the money went back to the customer. The payment stays paid.',
  not_set_up:
    'Set the account up as before; or, if its new credentials belong to the same business, run tollgate provider confirm ACCOUNT.',
  account_refused:
    'Check the credentials with tollgate provider test ACCOUNT; correct them with tollgate provider set ACCOUNT NAME=-.',
  unknown_code: 'Ask the provider what its code means; tollgate payment show has it.',
  refund_needs_action:
    'tollgate refund show REFUND has the reason. If you paid it back by other means: tollgate refund record REFUND.',
  refund_unclear:
    'Look for the refund in the dashboard of the provider, then: tollgate refund record REFUND. It is never sent twice.',
  refund_exceeds: 'Ask the provider for the money back, or agree with the merchant who bears it.',
  not_recorded: 'tollgate payment show has the reason. Polling continues.',
}

async function list({ db, masterKeys }: CommandContext, { limit }: { limit: number }): Promise<Output> {
  const unreadable = await unreadableSecrets(db, masterKeys)
  const tasks = await nameMerchants(db, await openTasks(db, limit))
  const open = await countOpenTasks(db)
  const data = {
    open,
    tasks: tasks.map(task => ({ ...taskData(task), merchant_name: task.merchant_name })),
    ...(unreadable.length > 0 && { unreadable_secrets: unreadable }),
  }
  const secrets =
    unreadable.length > 0 &&
    section(
      'Secrets that cannot be opened',
      [...unreadable.map(describeUnreadable), unreadableTodo].join('\n'),
    )
  if (tasks.length === 0) return { data, text: paragraphs(secrets, 'There are no open tasks.') }
  const rows = tasks.map(task => [
    task.kind,
    moneyText(task.currency, task.amount),
    task.tx_reference,
    dateTime(task.created_at).slice(0, 16),
    task.merchant_name,
  ])
  const kinds = [...new Set(tasks.map(({ kind }) => kind))]
  const todoFacts = kinds.flatMap((kind): Fact[] => [
    [kind, taskKinds[kind]],
    ['', todo[kind]],
  ])
  const more = `\n${open - tasks.length} more are open: give a higher --limit.`
  const text = paragraphs(
    secrets,
    table(['KIND', 'AMOUNT', 'REFERENCE', 'SINCE', 'MERCHANT'], rows, ['AMOUNT']),
    section('What to do', facts(todoFacts)),
    `Then close it: tollgate task close REFERENCE --kind KIND --note TEXT${open > tasks.length ? more : ''}`,
  )
  return { data, text }
}

// Omits the attempt's id, which is the secret of the provider's callbacks.
const taskData = (task: Task) => ({
  ...task,
  attempt_id: undefined,
  amount: figureIn(task.amount, task.currency),
})

async function close({ db, clock, actor }: CommandContext, id: string, options: Options): Promise<Output> {
  const { tx_reference, merchant_id } = await requirePayment(db, id, options.merchant)
  const { kind, note, attempt } = options
  const key = { merchant_id, tx_reference }
  const now = clock()
  const recorded = auditedDb(db, actor, now, (result: CloseTaskResult | undefined) =>
    result?.done === 'closed' ? closedTaskEntry(key, kind) : undefined,
  )
  const closed = await closeTask(recorded, key, { kind, note, number: attempt }, now)
  if (closed.done === 'no_such_task')
    throw notFound(`${tx_reference} has no open ${kind} task: tollgate task list shows them.`)
  if (closed.done === 'several')
    throw new CommandError(
      'ambiguous',
      `Attempts ${closed.numbers.join(' and ')} of ${tx_reference} have an open ${kind} task: give --attempt.`,
      { data: { attempts: closed.numbers } },
    )
  const { task, payment, gaveUp } = closed
  const text = `The ${kind} task of ${tx_reference} is closed.`
  return {
    data: { ...taskData(task), attempt_given_up: gaveUp, status: payment.status },
    text: gaveUp ? `${text} Its attempt was given up, and the payment is ${payment.status}.` : text,
  }
}
