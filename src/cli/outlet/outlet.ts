import { createOutlet } from '../../actions/merchants/outlets.ts'
import { listAllOutlets, listOutlets } from '../../store/merchants/merchants.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { table } from '../terminal.ts'
import { readName, readOutletCode } from '../values.ts'
import { addOutletReport } from './report.ts'

type NewOutlet = { merchant: string; code: string; name: string }

export function addOutletCommands(program: CliCommand) {
  const outlet = program
    .command('outlet')
    .description("Add, list and report on a merchant's outlets (branches).")
    .examples('tollgate outlet list --merchant 7c2k9m0x4f')
  outlet
    .command('add')
    .description('Add an outlet. Payment requests name it as extra_outlet.')
    .requiredOption('--merchant <id>', 'the merchant')
    .requiredOption('--code <code>', 'the code in requests: letters, digits, - _ .', readOutletCode)
    .requiredOption('--name <name>', 'a name for people', readName)
    .examples("tollgate outlet add --merchant 7c2k9m0x4f --code ACC-1 --name 'Accra Mall'")
    .runWithDatabase(add)
  outlet
    .command('list')
    .description('List the outlets of one merchant, or of all.')
    .option('--merchant <id>', 'only those of this merchant')
    .examples('tollgate outlet list', 'tollgate outlet list --merchant 7c2k9m0x4f')
    .runWithDatabase(list)
  addOutletReport(outlet)
}

async function add(
  { db, clock, actor }: CommandContext,
  { merchant, code, name }: NewOutlet,
): Promise<Output> {
  const { merchant_id, name: merchantName } = await requireMerchant(db, merchant)
  const created = await createOutlet(db, actor, { merchant_id, code, name }, clock())
  if (created.done === 'full') throw refused(`${merchantName} has the most outlets that a merchant can have.`)
  if (created.done !== 'added')
    throw refused(`${merchantName} already has an outlet ${code}: tollgate outlet list shows them.`)
  return {
    data: created.outlet,
    text: `Outlet ${code} (${name}) of ${merchantName} is ready: requests name it as extra_outlet.`,
  }
}

async function list({ db }: CommandContext, { merchant }: { merchant?: string }): Promise<Output> {
  const outlets = merchant
    ? await listOutlets(db, (await requireMerchant(db, merchant)).merchant_id)
    : await listAllOutlets(db)
  const rows = outlets.map(({ merchant_id, code, name }) => [merchant_id, code, name])
  const text =
    rows.length > 0
      ? table(['MERCHANT', 'CODE', 'NAME'], rows)
      : 'There are no outlets yet: tollgate outlet add --merchant ID --code CODE --name NAME adds one.'
  return { data: { outlets }, text }
}
