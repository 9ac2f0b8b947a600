import { z } from 'zod'
import { damaged } from './fault.ts'

// What a backup says about itself. The first file of the archive has what is known before the data, the last one what is
// known after it. Neither has a secret: a fingerprint names a master key and does not reveal it.
const count = z.number().int().nonnegative()

const head = z.object({
  format: z.literal(1),
  backup_id: z.string().min(1),
  version: z.string(), // of the Tollgate that made it
  taken_at: z.iso.datetime(), // of the snapshot: later changes are not in the backup
  migrations: z.array(z.string()).min(1), // its schema
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()).min(1) })), // in the order of the data
  master_keys: z.array(z.string()), // fingerprints of the keys that its secrets need
})

const tableFacts = z.object({ name: z.string(), rows: count, bytes: count, sha256: z.string() })

// Sums of amounts are texts: they may be larger than a number of JSON.
const totals = z.object({
  payments: z.array(z.object({ mode: z.string(), status: z.string(), count })),
  transfers: z.array(z.object({ mode: z.string(), currency: z.string(), count, amount: z.string() })),
})

const manifest = z.object({ head, tables: z.array(tableFacts), totals })

export type BackupHead = z.output<typeof head>
export type TableFacts = z.output<typeof tableFacts>
export type BackupTotals = z.output<typeof totals>
export type BackupManifest = z.output<typeof manifest>

export const headFile = 'backup.json'
export const manifestFile = 'manifest.json'
export const partFile = (table: string, part: number) =>
  `tables/${table}/${String(part).padStart(6, '0')}.copy`

export const asFile = (content: BackupHead | BackupManifest) =>
  Buffer.from(`${JSON.stringify(content, null, 2)}\n`)

export const parseHead = (body: Buffer): BackupHead => parse(head, body)
export const parseManifest = (body: Buffer): BackupManifest => parse(manifest, body)

function parse<T>(schema: z.ZodType<T>, body: Buffer): T {
  try {
    return schema.parse(JSON.parse(body.toString('utf8')))
  } catch (error) {
    throw damaged('its description cannot be read', error)
  }
}

export const paymentsIn = ({ totals: { payments } }: BackupManifest) =>
  payments.reduce((sum, { count: some }) => sum + some, 0)

// What two descriptions of the same data disagree about, in words; undefined: nothing.
export function differenceOf<T>(what: string, recorded: T, found: T): string | undefined {
  const [was, is] = [JSON.stringify(recorded), JSON.stringify(found)]
  return was === is ? undefined : `${what}: the backup recorded ${was}, and ${is} was found`
}

const lineBreak = 10

// One row is one line: COPY writes a line break in a value as \n.
export function linesIn(text: Buffer): number {
  let lines = 0
  for (let at = text.indexOf(lineBreak); at >= 0; at = text.indexOf(lineBreak, at + 1)) lines++
  return lines
}
