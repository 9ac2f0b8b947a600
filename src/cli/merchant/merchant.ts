import { type Onboarded, onboard } from '../../actions/merchants/onboard.ts'
import { listMerchants, setActive } from '../../store/merchants/merchants.ts'
import { type CommandContext, merchantNotFound, withDatabase, withMasterKeys } from '../database.ts'
import type { CliCommand } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, facts, heading, paint, table } from '../terminal.ts'
import { readName } from '../values.ts'
import { addMerchantLogo } from './logo.ts'
import { addIpnPasswordCommands, addIpnSecretCommands } from './rotate.ts'
import { addMerchantSet, originsAdvice } from './set.ts'
import { addMerchantShow } from './show.ts'

export function addMerchantCommands(program: CliCommand, cli: Cli) {
  const merchant = program
    .command('merchant')
    .description('Register, show and change merchants.')
    .examples("tollgate merchant add --name 'Ama Shop'", 'tollgate merchant list')
  merchant
    .command('add')
    .description('Register a merchant. Its keys and secrets are shown only now.')
    .requiredOption('--name <name>', 'the name that customers see on the checkout page', readName)
    .examples("tollgate merchant add --name 'Ama Shop'", "tollgate merchant add --name 'Ama Shop' --json")
    .action(async ({ name }: { name: string }) =>
      cli.print(await withMasterKeys(context => add(context, name))),
    )
  merchant
    .command('list')
    .description('List every merchant.')
    .examples('tollgate merchant list')
    .action(async () => cli.print(await withDatabase(list)))
  addMerchantShow(merchant, cli)
  addMerchantSet(merchant, cli)
  addMerchantLogo(merchant, cli)
  addIpnSecretCommands(merchant, cli)
  addIpnPasswordCommands(merchant, cli)
  merchant
    .command('deactivate <id>')
    .description('Refuse new payments of a merchant. It can still read the status of its payments.')
    .examples('tollgate merchant deactivate 7c2k9m0x4f')
    .action(async (id: string) => cli.print(await withDatabase(context => activate(context, id, false))))
  merchant
    .command('activate <id>')
    .description('Accept payments of a deactivated merchant again.')
    .examples('tollgate merchant activate 7c2k9m0x4f')
    .action(async (id: string) => cli.print(await withDatabase(context => activate(context, id, true))))
}

async function add({ db, masterKeys, clock }: CommandContext, name: string): Promise<Output> {
  const merchant = await onboard(db, masterKeys, name, ['test', 'live'], clock())
  return { data: merchant, text: registered(merchant) }
}

function registered({ merchant_id, name, test, live }: Onboarded): string {
  return [
    `${name} is registered.`,
    facts([['merchant_id', merchant_id]]),
    `${heading('Test keys')}\n${facts(Object.entries(test ?? {}))}`,
    `${heading('Live keys')}\n${facts(Object.entries(live ?? {}))}`,
    paint(
      'yellow',
      'The secrets are shown only now. Send them over a safe channel; they belong on servers only.',
    ),
    originsAdvice(merchant_id),
  ].join('\n\n')
}

async function list({ db }: CommandContext): Promise<Output> {
  const merchants = (await listMerchants(db)).map(({ merchant_id, name, active, created_at }) => ({
    merchant_id,
    name,
    active,
    created_at,
  }))
  const rows = merchants.map(row => [
    row.merchant_id,
    row.name,
    row.active ? 'yes' : 'no',
    dateTime(row.created_at),
  ])
  const text =
    rows.length > 0
      ? table(['ID', 'NAME', 'ACTIVE', 'CREATED'], rows)
      : 'There are no merchants yet: tollgate merchant add --name NAME adds one.'
  return { data: { merchants }, text }
}

async function activate({ db }: CommandContext, id: string, isActive: boolean): Promise<Output> {
  const merchant = await setActive(db, id, isActive)
  if (!merchant) throw merchantNotFound(id)
  const { merchant_id, name, active } = merchant
  const text = active
    ? `${name} is active: its payments are accepted within a second.`
    : `${name} is deactivated: its new payments are refused within a second.`
  return { data: { merchant_id, name, active }, text }
}
