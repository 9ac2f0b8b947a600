import { audited, auditedDb } from '../../actions/access/audit.ts'
import { onboard } from '../../actions/merchants/onboard.ts'
import { activeEntry } from '../../core/access/auditEntries.ts'
import { newMerchantId } from '../../runtime/ids.ts'
import { listMerchants, setActive } from '../../store/merchants/merchants.ts'
import { type CommandContext, merchantNotFound } from '../database.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type Output, pick } from '../output.ts'
import { dateTime, facts, paint, paragraphs, section, table } from '../terminal.ts'
import { readName } from '../values.ts'
import { addMerchantLogo } from './logo.ts'
import { addIpnPasswordCommands, addIpnSecretCommands } from './rotate.ts'
import { addMerchantSet, originsAdvice } from './set.ts'
import { addMerchantShow } from './show.ts'

export function addMerchantCommands(program: CliCommand) {
  const merchant = program
    .command('merchant')
    .description('Register, show and change merchants.')
    .examples("tollgate merchant add --name 'Ama Shop'", 'tollgate merchant list')
  merchant
    .command('add')
    .description('Register a merchant. Its keys and secrets are shown only now.')
    .requiredOption('--name <name>', 'the name that customers see on the checkout page', readName)
    .examples("tollgate merchant add --name 'Ama Shop'", "tollgate merchant add --name 'Ama Shop' --json")
    .runWithMasterKeys(add)
  merchant
    .command('list')
    .description('List every merchant.')
    .examples('tollgate merchant list')
    .runWithDatabase(list)
  addMerchantShow(merchant)
  addMerchantSet(merchant)
  addMerchantLogo(merchant)
  addIpnSecretCommands(merchant)
  addIpnPasswordCommands(merchant)
  merchant
    .command('deactivate <id>')
    .description('Refuse new payments of a merchant. It can still read the status of its payments.')
    .examples('tollgate merchant deactivate 7c2k9m0x4f')
    .runWithDatabase((context, id: string) => activate(context, id, false))
  merchant
    .command('activate <id>')
    .description('Accept payments of a deactivated merchant again.')
    .examples('tollgate merchant activate 7c2k9m0x4f')
    .runWithDatabase((context, id: string) => activate(context, id, true))
}

async function add(
  { db, masterKeys, clock, actor }: CommandContext,
  { name }: { name: string },
): Promise<Output> {
  const now = clock()
  const id = newMerchantId()
  const entry = { merchant_id: id, action: 'merchant.add', subject: id, before: null, after: { name } }
  const recorded = auditedDb(db, actor, now, () => entry)
  const merchant = await onboard(recorded, masterKeys, name, ['test', 'live'], now, id)
  const { merchant_id, test = {}, live = {} } = merchant
  const text = paragraphs(
    `${name} is registered.`,
    facts([['merchant_id', merchant_id]]),
    section('Test keys', facts(Object.entries(test))),
    section('Live keys', facts(Object.entries(live))),
    paint(
      'yellow',
      'The secrets are shown only now. Send them over a safe channel; they belong on servers only.',
    ),
    originsAdvice(merchant_id),
  )
  return { data: merchant, text }
}

async function list({ db }: CommandContext): Promise<Output> {
  const merchants = await listMerchants(db)
  const rows = merchants.map(({ merchant_id, name, active, created_at }) => [
    merchant_id,
    name,
    active ? 'yes' : 'no',
    dateTime(created_at),
  ])
  const text =
    rows.length > 0
      ? table(['ID', 'NAME', 'ACTIVE', 'CREATED'], rows)
      : 'There are no merchants yet: tollgate merchant add --name NAME adds one.'
  const data = merchants.map(one => pick(one, 'merchant_id', 'name', 'active', 'created_at'))
  return { data: { merchants: data }, text }
}

async function activate(context: CommandContext, id: string, isActive: boolean): Promise<Output> {
  const merchant = await audited(context.db, context.actor, context.clock(), async (tx, record) => {
    const changed = await setActive(tx, id, isActive)
    if (changed) await record(activeEntry(id, isActive))
    return changed
  })
  if (!merchant) throw merchantNotFound(id)
  const text = isActive
    ? `${merchant.name} is active: its payments are accepted within a second.`
    : `${merchant.name} is deactivated: its new payments are refused within a second.`
  return { data: pick(merchant, 'merchant_id', 'name', 'active'), text }
}
