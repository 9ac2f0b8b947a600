import { InvalidArgumentError } from 'commander'
import {
  headOf,
  isIntact,
  type LedgerReport,
  type SealHead,
  verifyLedger,
} from '../../actions/ledger/verify.ts'
import { lastSeal } from '../../store/ledger/seals.ts'
import { listMerchants, type Merchant } from '../../store/merchants/merchants.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { exitCodes, refused } from '../failure.ts'
import type { Output } from '../output.ts'
import { dateTime, heading } from '../terminal.ts'
import { ledgerCsv, refuseTwoForms } from './figures.ts'

export type ExpectedHead = { number: number; digest: string }
type Options = { merchant?: string; expect?: ExpectedHead; head?: true; csv?: true }

export function addLedgerVerify(ledger: CliCommand) {
  ledger
    .command('verify')
    .description(
      'Recompute the chain of seals, the last balances and what is booked of each charge, and name the first row that ' +
        'does not fit. Fails if anything differs.',
    )
    .option('--merchant <id>', 'only this merchant; without it every merchant')
    .option('--expect <head>', 'a head of this merchant that --head showed before: NUMBER:DIGEST', readHead)
    .option('--head', 'only show the head of each chain, to store elsewhere')
    .option('--csv', 'as CSV, for a spreadsheet')
    .examples(
      'tollgate ledger verify',
      'tollgate ledger verify --head --csv > heads.csv',
      'tollgate ledger verify --merchant 7c2k9m0x4f --expect 17:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    )
    .runWithDatabase((context, options: Options) => {
      refuseTwoForms(ledger, options.csv)
      if (options.expect && !options.merchant) throw refused('Give --merchant with --expect.')
      return options.head ? showHeads(context, options) : verifyAll(context, options)
    })
}

export function readHead(text: string): ExpectedHead {
  const [, number = '', digest = ''] = /^(\d{1,9}):([0-9a-f]{64})$/.exec(text) ?? []
  if (digest === '')
    throw new InvalidArgumentError('It must be the number and the digest of a seal, such as 17:9f86...')
  return { number: Number(number), digest }
}

const merchantsOf = async ({ db }: CommandContext, { merchant }: Options): Promise<Merchant[]> =>
  merchant ? [await requireMerchant(db, merchant)] : listMerchants(db)

const headText = ({ number, digest }: SealHead) => `${number}:${digest}`

async function showHeads(context: CommandContext, options: Options): Promise<Output> {
  const heads = []
  for (const { merchant_id } of await merchantsOf(context, options)) {
    const seal = await lastSeal(context.db, merchant_id)
    if (seal) heads.push({ merchant_id, ...headOf(seal) })
  }
  const lines = heads.map(head => [head.merchant_id, headText(head), head.until_at.toISOString()])
  const text = options.csv
    ? ledgerCsv(['merchant_id', 'head', 'until'], lines)
    : lines.map(([merchant_id, head, until]) => `${merchant_id} ${head} until ${until}`).join('\n')
  return { data: { heads }, text: text || 'Nothing is sealed yet.' }
}

async function verifyAll(context: CommandContext, options: Options): Promise<Output> {
  const reports: LedgerReport[] = []
  for (const { merchant_id } of await merchantsOf(context, options))
    reports.push(await verifyLedger(context.db, merchant_id, context.clock(), options.expect))
  const intact = reports.every(isIntact)
  const data = { intact, merchants: reports.map(reportData) }
  const faults = reports.flatMap(report => faultsOf(report).map(fault => [report.merchant_id, ...fault]))
  const text = options.csv
    ? ledgerCsv(['merchant_id', 'what', 'where', 'fault'], faults)
    : `${reports.map(reportText).join('\n')}\n\n${intact ? 'The ledger is intact.' : heading('The ledger does not fit.')}`
  return { data, text, ...(!intact && { exitCode: exitCodes.refused }) }
}

const reportData = (report: LedgerReport) => ({
  merchant_id: report.merchant_id,
  intact: isIntact(report),
  seals: report.seals,
  transfers: Number(report.transfers),
  head: report.head,
  seal_fault: report.sealFault && {
    seal: report.sealFault.seal,
    transfer_id: report.sealFault.row_id,
    words: report.sealFault.words,
  },
  snapshot_faults: report.snapshotFaults,
  wrong_charges: report.wrongCharges.map(({ tx_reference, attempt_id, recorded, booked }) => ({
    tx_reference,
    attempt_id,
    recorded: String(recorded),
    booked: String(booked),
  })),
})

const faultsOf = ({ sealFault, snapshotFaults, wrongCharges }: LedgerReport): [string, string, string][] => [
  ...(sealFault
    ? [[`seal ${sealFault.seal}`, sealFault.row_id ?? '', sealFault.words] satisfies [string, string, string]]
    : []),
  ...snapshotFaults.map((words): [string, string, string] => ['balances', '', words]),
  ...wrongCharges.map(({ tx_reference, attempt_id, recorded, booked }): [string, string, string] => [
    'charge',
    `${tx_reference} ${attempt_id}`,
    recorded === booked
      ? 'the charge and what was given back of it are not booked'
      : `${recorded} is recorded at the provider and ${booked} is booked, in minor units`,
  ]),
]

function reportText(report: LedgerReport): string {
  const { merchant_id, seals, transfers, head } = report
  const until = head ? `, until ${dateTime(head.until_at)}` : ''
  const summary = `${merchant_id}: ${transfers} transfers in ${seals} seals${until}`
  const faults = faultsOf(report).map(([what, where, words]) => `  ${what}${where && `, ${where}`}: ${words}`)
  return [summary, ...faults].join('\n')
}
