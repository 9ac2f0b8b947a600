import { once } from 'node:events'
import { auditCsv, auditEntriesOf, type AuditSearch, searchAudit } from '../../actions/access/auditLog.ts'
import { lastAuditSeal, verifyAuditLog } from '../../actions/access/auditSeal.ts'
import { headOf } from '../../actions/ledger/verify.ts'
import type { StoredEntry } from '../../core/access/audit.ts'
import { auditSentence } from '../../core/access/auditTexts.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, withDatabase } from '../database.ts'
import { exitCodes } from '../failure.ts'
import { type ExpectedHead, readHead } from '../ledger/verify.ts'
import type { Output } from '../output.ts'
import { dateTime, heading, paragraphs, table } from '../terminal.ts'
import { fromOption, readLimit, requirePeriod, toOption } from '../values.ts'

type SearchOptions = {
  merchant?: string
  actor?: string
  subject?: string
  action?: string
  from?: Date
  to?: Date
}

export function addAuditCommands(program: CliCommand) {
  const audit = program
    .command('audit')
    .description('Show, check and export the audit log: who changed what.')
    .examples('tollgate audit list', 'tollgate audit verify')
  withSearch(audit.command('list'))
    .description('List the entries that fit, newest first.')
    .option('--limit <count>', 'how many at most', readLimit, 50)
    .examples('tollgate audit list --merchant 7c2k9m0x4f', 'tollgate audit list --action settings.change')
    .runWithDatabase(list)
  audit
    .command('verify')
    .description(
      'Recompute the seals of the log, and name the first entry that does not fit. Fails if one does not.',
    )
    .option('--expect <head>', 'a head that --head showed before: NUMBER:DIGEST', readHead)
    .option('--head', 'only show the head, to store elsewhere')
    .examples('tollgate audit verify', 'tollgate audit verify --head')
    .runWithDatabase(verify)
  withSearch(audit.command('export'))
    .description('Print all entries that fit as CSV, newest first; with --json one object a line.')
    .examples('tollgate audit export --from 2026-05-01 --to 2026-05-31 > audit.csv')
    .action((options: SearchOptions) => withDatabase(context => exportLog(context, audit.json, options)))
}

const withSearch = (command: CliCommand): CliCommand =>
  command
    .option('--merchant <id>', 'only changes of this merchant')
    .option('--actor <who>', 'only by this user (name, email or id) or this account of the operating system')
    .option('--subject <id>', 'only changes of this payment, user or account')
    .option('--action <name>', 'only this action, such as settings.change')
    .addOption(fromOption())
    .addOption(toOption())

function searchOf({ merchant, actor, subject, action, from, to }: SearchOptions): AuditSearch {
  requirePeriod(from, to)
  return { merchant_id: merchant, actor, subject, action, from, until: to }
}

async function list(
  { db }: CommandContext,
  { limit, ...options }: SearchOptions & { limit: number },
): Promise<Output> {
  const { entries, older } = await searchAudit(db, searchOf(options), { limit })
  const rows = entries.map(entry => [dateTime(entry.at), auditSentence(entry, 'en'), entry.address])
  const text = paragraphs(
    entries.length === 0 ? 'No entry fits.' : table(['WHEN', 'WHAT', 'FROM'], rows),
    older && 'There are older entries: give a higher --limit, or --to.',
  )
  return { data: { entries: entries.map(entryData) }, text }
}

const entryData = ({ entry_id, at, actor_kind, actor_id, address, ...rest }: StoredEntry) => ({
  entry_id,
  at,
  actor_kind,
  actor_id,
  actor_name: rest.actor_name,
  address,
  merchant_id: rest.merchant_id,
  action: rest.action,
  subject: rest.subject,
  before: rest.before,
  after: rest.after,
})

type VerifyOptions = { expect?: ExpectedHead; head?: true }

async function verify({ db }: CommandContext, options: VerifyOptions): Promise<Output> {
  if (options.head) {
    const seal = await lastAuditSeal(db)
    const head = seal ? headOf(seal) : null
    const text = head
      ? `${head.number}:${head.digest} until ${head.until_at.toISOString()}`
      : 'Nothing is sealed yet.'
    return { data: { head }, text }
  }
  const { seals, rows, head, sealFault } = await verifyAuditLog(() => db, options.expect)
  const summary = `${rows} entries in ${seals} seals${head ? `, until ${dateTime(head.until_at)}` : ''}`
  const data = {
    intact: sealFault === null,
    seals,
    entries: Number(rows),
    head,
    seal_fault: sealFault && { seal: sealFault.seal, entry_id: sealFault.row_id, words: sealFault.words },
  }
  if (!sealFault) return { data, text: `${summary}\n\nThe audit log is intact.` }
  const where = sealFault.row_id ? `, ${sealFault.row_id}` : ''
  const text = `${summary}\n  seal ${sealFault.seal}${where}: ${sealFault.words}\n\n${heading('The audit log does not fit.')}`
  return { data, text, exitCode: exitCodes.refused }
}

// Printed while it is read: the log may be larger than the memory.
async function exportLog({ db }: CommandContext, json: boolean, options: SearchOptions) {
  const entries = auditEntriesOf(() => db, searchOf(options))
  for await (const line of json ? jsonLines(entries) : auditCsv(entries))
    if (!process.stdout.write(line)) await once(process.stdout, 'drain')
}

async function* jsonLines(entries: AsyncIterable<StoredEntry>) {
  for await (const entry of entries) yield `${JSON.stringify(entryData(entry))}\n`
}
