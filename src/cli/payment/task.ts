import { type Command, InvalidArgumentError, Option } from 'commander'
import { nameMerchants } from '../../actions/merchants/nameMerchants.ts'
import { type Closed, closeTask } from '../../actions/payments/closeTask.ts'
import { figureIn } from '../../core/money.ts'
import { type Task, type TaskKind, taskKinds } from '../../core/payment/task.ts'
import { moneyText } from '../../core/timeline/history.ts'
import { isPlainText } from '../../core/text.ts'
import { countOpenTasks, openTasks } from '../../store/payments/tasks.ts'
import { type Opened, withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import { onePayment } from '../onePayment.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, type Fact, facts, heading, table } from '../terminal.ts'
import { readLimit } from '../values.ts'

const maxNoteLength = 500

type Close = { merchant?: string; kind: TaskKind; note: string; attempt?: number }

export function addTaskCommands(program: Command, cli: Cli) {
  const task = program
    .command('task')
    .description('See what waits for a person, and say what came of it.')
    .addHelpText('after', examples('tollgate task list'))
  task
    .command('list')
    .description('List the open tasks, the oldest first, and what to do.')
    .option('--limit <count>', 'at most so many', readLimit, 20)
    .addHelpText('after', examples('tollgate task list', 'tollgate task list --json'))
    .action(async ({ limit }: { limit: number }) =>
      cli.print(await withDatabase(database => list(database, limit))),
    )
  task
    .command('close <reference>')
    .description(
      'Close a task of a payment, by its reference or invoice id. To close an amount_mismatch, reference_taken or ' +
        'unresolved task also gives up its attempt where the provider has not ended it: the payment then becomes failed, or ' +
        'cancelled where the customer wished so, and can be tried again until it expires. See to the money first.',
    )
    .addOption(
      new Option('--kind <kind>', 'which task').choices(Object.keys(taskKinds)).makeOptionMandatory(),
    )
    .requiredOption('--note <text>', 'what you found and did; it stays with the payment', readNote)
    .option('--attempt <number>', 'where several attempts have such a task', readLimit)
    .option('--merchant <id>', 'when several merchants use the same invoice id')
    .addHelpText(
      'after',
      examples(
        "tollgate task close TG-01KA9C-7M2QXH-0V4D1R --kind refund --note 'Given back in the portal, 2 May.'",
      ),
    )
    .action(async (word: string, asked: Close) =>
      cli.print(await withDatabase(database => close(database, word, asked))),
    )
}

function readNote(text: string): string {
  const note = text.trim()
  if (note === '' || note.length > maxNoteLength || !isPlainText(note))
    throw new InvalidArgumentError(`It must be 1 to ${maxNoteLength} characters on one line.`)
  return note
}

const todo: Record<TaskKind, string> = {
  refund: 'Do it at the provider, to the same wallet or card.',
  amount_mismatch: 'Agree with the shop what becomes of it, or give it back.',
  unresolved: 'Ask the provider; tollgate payment show has its reference.',
  other_order: 'Ask the provider why; we believe it about this order alone, and go on asking.',
  reference_taken: 'Ask the provider which of the two the money is for; tollgate payment show has more.',
  reversed: 'Tell the shop: its goods may have to come back. The payment stays paid.',
  dispute_opened: 'Answer the provider in time, with proof from the shop. No money has moved yet.',
  dispute_lost: 'Tell the shop: the money went back to the customer. The payment stays paid.',
  not_set_up:
    'Set the account up as it was; or, if its new credentials are of the same business, tollgate provider confirm ACCOUNT.',
  account_refused:
    'tollgate provider test ACCOUNT asks the provider; set the credentials right: tollgate provider set ACCOUNT NAME=-.',
  unknown_code: 'Ask the provider what its code means; tollgate payment show has it.',
  not_recorded: 'tollgate payment show says why; we go on asking.',
}

async function list({ db }: Opened, limit: number): Promise<Output> {
  const tasks = await nameMerchants(db, await openTasks(db, limit))
  const open = await countOpenTasks(db)
  const data = { open, tasks: tasks.map(task => ({ ...taskData(task), merchant_name: task.merchant_name })) }
  if (tasks.length === 0) return { data, text: 'Nothing waits for a person.' }
  const columns = ['KIND', 'AMOUNT', 'REFERENCE', 'SINCE', 'MERCHANT']
  const rows = tasks.map(task => [
    task.kind,
    moneyText(task.currency, task.amount),
    task.tx_reference,
    dateTime(task.created_at).slice(0, 16),
    task.merchant_name,
  ])
  const kinds = [...new Set(tasks.map(({ kind }) => kind))]
  const text = [
    table(
      columns.map(title => ({ title, right: title === 'AMOUNT' })),
      rows,
    ),
    `${heading('What to do')}\n${facts(
      kinds.flatMap((kind): Fact[] => [
        [kind, taskKinds[kind]],
        ['', todo[kind]],
      ]),
    )}`,
    `Then close it: tollgate task close REFERENCE --kind KIND --note TEXT${open > tasks.length ? `\n${open - tasks.length} more wait: give a higher --limit.` : ''}`,
  ]
  return { data, text: text.join('\n\n') }
}

// Without the attempt's id: it is a secret that its provider calls back with.
const taskData = (task: Task) => ({
  ...task,
  attempt_id: undefined,
  amount: figureIn(task.amount, task.currency),
})

async function close({ db, clock }: Opened, word: string, asked: Close): Promise<Output> {
  const { tx_reference, merchant_id } = await onePayment(db, word, asked.merchant)
  const { kind, note, attempt } = asked
  const closed = await closeTask(db, { merchant_id, tx_reference }, { kind, note, number: attempt }, clock())
  if (closed.done === 'no_such_task')
    throw new CannotDo(
      'not_found',
      `${tx_reference} has no open ${kind} task: tollgate task list shows them.`,
    )
  if (closed.done === 'several')
    throw new CannotDo(
      'ambiguous',
      `Attempts ${closed.numbers.join(' and ')} of ${tx_reference} have an open ${kind} task: give --attempt.`,
      { data: { attempts: closed.numbers } },
    )
  return { data: closedData(closed), text: closedText(closed) }
}

type Done = Closed & { done: 'closed' }

const closedData = ({ task, payment, gaveUp }: Done) => ({
  ...taskData(task),
  attempt_given_up: gaveUp,
  status: payment.status,
})

function closedText({ task, payment, gaveUp }: Done): string {
  const line = `The ${task.kind} task of ${task.tx_reference} is closed.`
  return gaveUp ? `${line} Its attempt was given up, and the payment is ${payment.status}.` : line
}
