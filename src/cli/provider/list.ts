import type { Command } from 'commander'
import { type WaitingAttempts, waitingAttempts } from '../../actions/providers/waitingAttempts.ts'
import type { OpenedAccount } from '../../runtime/providers/accounts.ts'
import { merchantOf, type Opened, withDatabase } from '../database.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, type Fact, facts, heading, paint } from '../terminal.ts'
import { waitingLine } from './businessText.ts'
import { openAll, webhookAddress } from './accountSetup.ts'

export function addProviderList(command: Command, cli: Cli) {
  command
    .command('list')
    .description('List the accounts at providers, those of the environment too. Secrets are never shown.')
    .option('--merchant <id>', 'only the accounts of this merchant')
    .addHelpText(
      'after',
      examples('tollgate provider list', 'tollgate provider list --merchant 7c2k9m0x4f --json'),
    )
    .action(async ({ merchant }: { merchant?: string }) =>
      cli.print(await withDatabase(opened => list(opened, merchant))),
    )
}

async function list(opened: Opened, merchant: string | undefined): Promise<Output> {
  if (merchant !== undefined) await merchantOf(opened.db, merchant)
  const providerAccounts = await openAll(opened)
  const shown = providerAccounts
    .accounts()
    .filter(one => merchant === undefined || one.merchant_id === merchant)
  const waiting = await waitingAttempts(opened.db, providerAccounts)
  const accounts = shown.map(account => dataOf(opened, account, waiting))
  const none = 'There are none: tollgate provider add CHANNEL stores one.'
  return { data: { accounts }, text: accounts.length > 0 ? accounts.map(textOf).join('\n\n') : none }
}

const dataOf = ({ config }: Opened, one: OpenedAccount, waiting: readonly WaitingAttempts[]) => ({
  account: one.account,
  provider: one.provider,
  mode: one.mode,
  merchant_id: one.merchant_id,
  label: one.label,
  stored: one.isStored,
  methods: one.methods.map(({ payment_method }) => payment_method),
  disabled_at: one.disabled_at,
  fault: one.fault ?? null,
  webhook: webhookAddress(config, one.account, one.opened),
  waiting: waiting.filter(({ account }) => account === one.account),
})

const textOf = (one: ReturnType<typeof dataOf>) =>
  `${heading(one.account)}${one.label ? `  ${one.label}` : ''}\n${facts([
    ['provider', `${one.provider}, ${one.mode}`],
    ['for', one.merchant_id ? `merchant ${one.merchant_id}` : 'every merchant'],
    ['set by', one.stored ? 'command' : 'the environment'],
    ['payment methods', one.methods.join(', ') || 'none are known'],
    ...(one.webhook ? [['webhook', one.webhook] as const] : []),
    ...troubles(one),
  ])}`

const troubles = ({ disabled_at, fault, waiting }: ReturnType<typeof dataOf>): Fact[] => [
  ...(disabled_at ? [['disabled', `since ${dateTime(disabled_at)}`] as const] : []),
  ...(fault ? [['fault', paint('red', fault)] as const] : []),
  ...waiting.map(one => ['waiting', paint('yellow', waitingLine(one))] as const),
]
