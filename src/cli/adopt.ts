import { createInterface } from 'node:readline'
import { adopt, type AdoptPlan, planAdopt } from '../actions/installation/adopt.ts'
import { notOriginalText } from '../core/installation/installationTexts.ts'
import type { Backlog } from '../store/installation/backlog.ts'
import type { CliCommand } from './cliCommand.ts'
import type { CommandContext } from './database.ts'
import { refused } from './failure.ts'
import type { Output } from './output.ts'
import { paint, paragraphs } from './terminal.ts'

export function addAdopt(program: CliCommand) {
  program
    .command('adopt')
    .description(
      'Declare this database the real one: a copy, such as a restored backup, begins to notify shops, to ask providers and ' +
        'to take live payments. Only if no other gateway works on the original any more.',
    )
    .option('--yes', 'do not ask for confirmation')
    .examples('tollgate adopt', 'tollgate adopt --yes --json')
    .runWithDatabase(run)
}

async function run(context: CommandContext, { yes }: { yes?: true }): Promise<Output> {
  const plan = await planAdopt(context)
  if (plan.state.is === 'original')
    return {
      data: { adopted: false, addresses: plan.addresses },
      text: 'This database is the real one already: nothing was changed.',
    }
  if (!yes) await confirm(plan)
  await adopt(context, plan, context.actor)
  return {
    data: { adopted: true, addresses: plan.addresses, backlog: plan.backlog },
    text: paragraphs(
      'This database is the real one now. Its nodes notice within five seconds and begin to work.',
      `Known at: ${plan.addresses.join(', ')}`,
      backlogText(plan.backlog),
    ),
  }
}

const warning =
  'This cannot be checked from here: stop every gateway that works on the original first. If both work, shops get ' +
  'contradictory notifications, and customers can be charged twice.'

async function confirm(plan: AdoptPlan) {
  if (!process.stdin.isTTY)
    throw refused(`Nothing was changed. ${warning} Then repeat the command with --yes.`, {
      faults: backlogLines(plan.backlog),
    })
  process.stderr.write(
    `${paragraphs(notOriginalText(plan.state), backlogText(plan.backlog), paint('yellow', warning))}\n`,
  )
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(refused('Nothing was changed.')))
      lines.once('close', () => resolve(''))
      lines.question('Is the original stopped for good, and this the real one? [y/N] ', resolve)
    })
    if (!/^y(es)?$/i.test(answer.trim())) throw refused('Nothing was changed.')
  } finally {
    lines.close()
  }
}

function backlogText(backlog: Backlog): string {
  const lines = backlogLines(backlog)
  return lines.length === 0
    ? 'Nothing is due in it.'
    : ['At once its nodes will:', ...lines.map(line => `  ${line}`)].join('\n')
}

const backlogLines = ({ deliveries, messages, attempts, refunds, expiring }: Backlog): string[] =>
  [
    deliveries > 0 && `send due notifications to shops, with the ids of the original: ${deliveries}`,
    messages > 0 && `send due SMS and emails to customers: ${messages}`,
    attempts > 0 && `ask providers about open payments: ${attempts}`,
    refunds > 0 && `send open refunds, or ask providers about them: ${refunds}`,
    expiring > 0 && `end payments whose time is over, after asking their providers: ${expiring}`,
  ].filter(line => line !== false)
