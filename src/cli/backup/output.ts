import type { ContentReport } from '../../actions/backups/checkContent.ts'
import { type BackupManifest, paymentsIn } from '../../core/backup/manifest.ts'
import { exitCodes } from '../failure.ts'
import type { Output } from '../output.ts'
import { dateTime, facts, paragraphs } from '../terminal.ts'
import { bytesText, countText } from './progress.ts'

export type BackupFile = { file: string; bytes: number; is_encrypted: boolean }

type BackupOutput = Output & { data: object }

export function backupOutput(
  manifest: BackupManifest,
  { file, bytes, is_encrypted }: BackupFile,
): BackupOutput {
  const { head, tables, totals } = manifest
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const content = `${countText(paymentsIn(manifest))} payments; ${countText(rows)} rows in ${tables.length} tables`
  const keys =
    head.master_keys.length > 0 ? `${head.master_keys.join(', ')} (needed to use it, not in it)` : 'none'
  return {
    data: { file, bytes, is_encrypted, ...head, tables, totals },
    text: facts([
      ['File', file],
      ['Data of', dateTime(new Date(head.taken_at))],
      ['Size', `${bytesText(bytes)}, ${is_encrypted ? 'encrypted' : 'not encrypted'}`],
      ['Content', content],
      ['Made by', `Tollgate ${head.version}, schema ${head.migrations.at(-1)?.replace(/\.sql$/, '')}`],
      ['Master keys', keys],
    ]),
  }
}

export function withMore(output: BackupOutput, data: object, ...texts: (string | false)[]): BackupOutput {
  return { ...output, data: { ...output.data, ...data }, text: paragraphs(output.text, ...texts) }
}

export function withContent(output: BackupOutput, content: ContentReport): Output {
  const { merchants, transfers, audit_entries, faults } = content
  const isIntact = faults.length === 0
  const found = `${countText(merchants)} merchants, ${transfers} sealed transfers and ${audit_entries} sealed audit entries`
  const text = isIntact
    ? `Restored into a scratch database and verified: ${found}.`
    : `The backup is complete, but its data does not fit: ${faults.join('; ')}. Run tollgate ledger verify and tollgate ` +
      'audit verify on the original.'
  return {
    ...withMore(output, { intact: isIntact, faults }, text),
    ...(!isIntact && { exitCode: exitCodes.refused }),
  }
}
