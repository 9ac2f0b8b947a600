import { once } from 'node:events'
import { exportPerson } from '../../actions/redaction/exportPerson.ts'
import { beginErasing, eraseStep, tablesToErase } from '../../actions/redaction/erasePerson.ts'
import { keptReasons } from '../../core/redaction/keptReasons.ts'
import { readPerson } from '../../core/redaction/readPerson.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, withDatabase } from '../database.ts'
import { refused } from '../failure.ts'
import type { Output } from '../output.ts'
import { paragraphs, printProgress, table } from '../terminal.ts'

const progressEveryMs = 1000

export function addPersonCommands(program: CliCommand) {
  const person = program
    .command('person')
    .description('Export or erase what is stored about one person, by phone number or email address.')
    .examples('tollgate person export 0241234567 > person.json')
  person
    .command('export <phone-or-email>')
    .description('Print everything about the payments of a person as JSON.')
    .examples('tollgate person export ama@mail.example > person.json')
    .action((typed: string) => withDatabase(context => exportOne(context, typed)))
  person
    .command('erase <phone-or-email>')
    .description(
      'Remove the personal data of all payments of a person, at once. Amounts, references and statuses stay. Payments with ' +
        'anything open are listed and keep their data: repeat the command later. It cannot be undone.',
    )
    .option('--yes', 'confirm that the data is removed')
    .examples('tollgate person erase 0241234567 --yes')
    .runWithDatabase(erase)
}

function requirePerson(typed: string) {
  const person = readPerson(typed)
  if (!person) throw refused('Give a phone number such as 0241234567, or an email address.')
  return person
}

async function exportOne({ db, clock, actor }: CommandContext, typed: string) {
  for await (const part of exportPerson(() => db, requirePerson(typed), actor, clock()))
    if (!process.stdout.write(part)) await once(process.stdout, 'drain')
}

async function erase(
  { db, clock, actor }: CommandContext,
  typed: string,
  { yes }: { yes?: true },
): Promise<Output> {
  const person = requirePerson(typed)
  if (!yes) throw refused('Nothing was removed. It cannot be undone: repeat the command with --yes.')
  let erasing = await beginErasing(db, person, actor, clock())
  let shown = 0
  while (erasing.place) {
    erasing = await eraseStep(db, erasing, actor, clock())
    const { place, done } = erasing
    if (!place || Date.now() - shown < progressEveryMs) continue
    shown = Date.now()
    printProgress(
      `table ${place.table + 1} of ${tablesToErase}, merchant ${place.merchant_id}: ${done.payments} payments erased, ` +
        `${done.texts} texts changed`,
    )
  }
  const { payments, texts } = erasing.done
  const all = erasing.kept
  const rows = all.map(one => [one.tx_reference, one.merchant_id, keptReasons[one.because].en])
  const text = paragraphs(
    `The personal data of ${payments} ${payments === 1 ? 'payment' : 'payments'} is removed, and the person from ${texts} ` +
      `other ${texts === 1 ? 'text' : 'texts'}.`,
    all.length > 0 && table(['KEPT', 'MERCHANT', 'BECAUSE'], rows),
    all.length > 0 && 'Repeat the command when nothing of them is open any more.',
  )
  return { data: { erased: payments, texts, kept: all }, text }
}
