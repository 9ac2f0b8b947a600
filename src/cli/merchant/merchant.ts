import type { Command } from 'commander'
import { type Onboarded, onboard } from '../../actions/merchants/onboard.ts'
import { listMerchants, setActive } from '../../store/merchants/merchants.ts'
import { noMerchant, type Opened, withDatabase, withMasterKeys } from '../database.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, facts, heading, paint, table } from '../terminal.ts'
import { readName } from '../values.ts'
import { addIpnPasswordCommands } from './ipnPassword.ts'
import { addIpnSecretCommands } from './ipnSecret.ts'
import { addMerchantLogo } from './logo.ts'
import { originsAdvice } from './origins.ts'
import { addMerchantSet } from './set.ts'
import { addMerchantShow } from './show.ts'

export function addMerchantCommands(program: Command, cli: Cli) {
  const merchant = program
    .command('merchant')
    .description('Register merchants, look at them and set them.')
    .addHelpText('after', examples("tollgate merchant add --name 'Ama Shop'", 'tollgate merchant list'))
  merchant
    .command('add')
    .description('Register a merchant. Its keys and secrets are shown this once.')
    .requiredOption('--name <name>', 'what customers see on the checkout page', readName)
    .addHelpText(
      'after',
      examples("tollgate merchant add --name 'Ama Shop'", "tollgate merchant add --name 'Ama Shop' --json"),
    )
    .action(async ({ name }: { name: string }) =>
      cli.print(await withMasterKeys(database => add(database, name))),
    )
  merchant
    .command('list')
    .description('List every merchant.')
    .addHelpText('after', examples('tollgate merchant list'))
    .action(async () => cli.print(await withDatabase(list)))
  addMerchantShow(merchant, cli)
  addMerchantSet(merchant, cli)
  addMerchantLogo(merchant, cli)
  addIpnSecretCommands(merchant, cli)
  addIpnPasswordCommands(merchant, cli)
  merchant
    .command('deactivate <id>')
    .description('Refuse new payments of a merchant. It can still ask how its payments stand.')
    .addHelpText('after', examples('tollgate merchant deactivate 7c2k9m0x4f'))
    .action(async (id: string) => cli.print(await withDatabase(database => turn(database, id, false))))
  merchant
    .command('activate <id>')
    .description('Take payments of a deactivated merchant again.')
    .addHelpText('after', examples('tollgate merchant activate 7c2k9m0x4f'))
    .action(async (id: string) => cli.print(await withDatabase(database => turn(database, id, true))))
}

async function add({ db, masterKeys, clock }: Opened, name: string): Promise<Output> {
  const merchant = await onboard(db, masterKeys, name, ['test', 'live'], clock())
  return { data: merchant, text: registered(merchant) }
}

function registered({ merchant_id, name, test, live }: Onboarded): string {
  return [
    `${name} is registered.`,
    facts([['merchant_id', merchant_id]]),
    `${heading('Test keys')}\n${facts(Object.entries(test ?? {}))}`,
    `${heading('Live keys')}\n${facts(Object.entries(live ?? {}))}`,
    paint('yellow', 'The secrets are shown this once. Hand them over safely; they belong on servers only.'),
    originsAdvice(merchant_id),
  ].join('\n\n')
}

async function list({ db }: Opened): Promise<Output> {
  const merchants = (await listMerchants(db)).map(({ merchant_id, name, active, created_at }) => ({
    merchant_id,
    name,
    active,
    created_at,
  }))
  const columns = [{ title: 'ID' }, { title: 'NAME' }, { title: 'ACTIVE' }, { title: 'CREATED' }]
  const rows = merchants.map(row => [
    row.merchant_id,
    row.name,
    row.active ? 'yes' : 'no',
    dateTime(row.created_at),
  ])
  const text =
    rows.length > 0
      ? table(columns, rows)
      : 'There are no merchants yet: tollgate merchant add --name NAME makes one.'
  return { data: { merchants }, text }
}

async function turn({ db }: Opened, id: string, on: boolean): Promise<Output> {
  const merchant = await setActive(db, id, on)
  if (!merchant) throw noMerchant(id)
  const { merchant_id, name, active } = merchant
  const text = active
    ? `${name} is active: its payments are taken within a second.`
    : `${name} is deactivated: its new payments are refused within a second.`
  return { data: { merchant_id, name, active }, text }
}
