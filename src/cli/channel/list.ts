import type { Command } from 'commander'
import { type WaitingAttempts, waitingAttempts } from '../../actions/channels/waitingAttempts.ts'
import type { Account } from '../../runtime/channels/accounts.ts'
import { merchantOf, type Opened, withDatabase } from '../database.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, type Fact, facts, heading, paint } from '../terminal.ts'
import { waitingLine } from './businessText.ts'
import { openAll, webhookAddress } from './desk.ts'

export function addChannelList(channel: Command, cli: Cli) {
  channel
    .command('list')
    .description('List the accounts at providers, those of the environment too. Secrets are never shown.')
    .option('--merchant <id>', 'only the accounts of this merchant')
    .addHelpText(
      'after',
      examples('tollgate channel list', 'tollgate channel list --merchant 7c2k9m0x4f --json'),
    )
    .action(async ({ merchant }: { merchant?: string }) =>
      cli.print(await withDatabase(opened => list(opened, merchant))),
    )
}

async function list(opened: Opened, merchant: string | undefined): Promise<Output> {
  if (merchant !== undefined) await merchantOf(opened.db, merchant)
  const channels = await openAll(opened)
  const shown = channels.accounts().filter(one => merchant === undefined || one.merchant_id === merchant)
  const waiting = await waitingAttempts(opened.db, channels)
  const accounts = shown.map(account => dataOf(opened, account, waiting))
  const none = 'There are none: tollgate channel add CHANNEL stores one.'
  return { data: { accounts }, text: accounts.length > 0 ? accounts.map(textOf).join('\n\n') : none }
}

const dataOf = ({ config }: Opened, one: Account, waiting: readonly WaitingAttempts[]) => ({
  account: one.account,
  channel: one.channel,
  mode: one.mode,
  merchant_id: one.merchant_id,
  label: one.label,
  stored: one.isStored,
  ways: one.ways.map(({ payment_method }) => payment_method),
  disabled_at: one.disabled_at,
  fault: one.fault ?? null,
  webhook: webhookAddress(config, one.account, one.opened),
  waiting: waiting.filter(({ account }) => account === one.account),
})

const textOf = (one: ReturnType<typeof dataOf>) =>
  `${heading(one.account)}${one.label ? `  ${one.label}` : ''}\n${facts([
    ['channel', `${one.channel}, ${one.mode}`],
    ['for', one.merchant_id ? `merchant ${one.merchant_id}` : 'every merchant'],
    ['set by', one.stored ? 'command' : 'the environment'],
    ['ways', one.ways.join(', ') || 'none are known'],
    ...(one.webhook ? [['webhook', one.webhook] as const] : []),
    ...troubles(one),
  ])}`

const troubles = ({ disabled_at, fault, waiting }: ReturnType<typeof dataOf>): Fact[] => [
  ...(disabled_at ? [['disabled', `since ${dateTime(disabled_at)}`] as const] : []),
  ...(fault ? [['fault', paint('red', fault)] as const] : []),
  ...waiting.map(one => ['waiting', paint('yellow', waitingLine(one))] as const),
]
