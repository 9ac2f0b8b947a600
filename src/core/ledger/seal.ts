import { createHash } from 'node:crypto'

// A row as it is sealed: every column, in the order of the table. Times are in microseconds, as the database has them.
export type SealedRow = { row_id: string; columns: readonly (string | null)[] }

export type Seal = {
  merchant_id: string // or auditChain
  number: number // 1, 2, 3
  until_at: Date // transfers created before it are included
  transfers: bigint
  row_digests: Buffer // of each row the first bytes of its digest, in order
  digest: Buffer
}

// The audit log is one chain, beside those of the merchants. No merchant has this id.
export const auditChain = 'audit'

export const rowDigestLength = 8

const sha256 = (text: string) => createHash('sha256').update(text).digest()

// Rows are added in the order of their creation, then of their ids. The digest covers the digest of the seal before, so a
// seal cannot be replaced without replacing all later ones.
export function createSeal(
  before: Pick<Seal, 'number' | 'digest'> | undefined,
  { merchant_id, until_at }: Pick<Seal, 'merchant_id' | 'until_at'>,
) {
  const number = (before?.number ?? 0) + 1
  const hash = createHash('sha256')
  hash.update(
    JSON.stringify([before?.digest.toString('hex') ?? '', merchant_id, number, until_at.toISOString()]),
  )
  const shortDigests: Buffer[] = []
  return {
    add({ columns }: SealedRow) {
      const digest = sha256(JSON.stringify(columns))
      hash.update(digest)
      shortDigests.push(digest.subarray(0, rowDigestLength))
    },
    finish: (): Seal => ({
      merchant_id,
      number,
      until_at,
      transfers: BigInt(shortDigests.length),
      row_digests: Buffer.concat(shortDigests),
      digest: hash.digest(),
    }),
  }
}

export type SealFault = { seal: number; row_id: string | null; words: string }

// Why the rows of a seal's period do not fit it, with the first row that does not. Undefined if they fit. `computed` is the
// seal of the present rows.
export function sealFault(
  stored: Seal,
  computed: Seal,
  rows: readonly Pick<SealedRow, 'row_id'>[],
  noun: 'transfer' | 'entry' = 'transfer',
): SealFault | undefined {
  if (stored.digest.equals(computed.digest) && stored.row_digests.equals(computed.row_digests))
    return undefined
  const [was, is] = [digestsIn(stored), digestsIn(computed)]
  const first = is.findIndex((digest, at) => digest !== was[at])
  const seal = stored.number
  if (first < 0 && is.length === was.length)
    return { seal, row_id: null, words: 'the seal itself was changed' }
  if (first < 0)
    return {
      seal,
      row_id: rows.at(-1)?.row_id ?? null,
      words: `${was.length - is.length} missing after this ${noun}`,
    }
  const row_id = rows[first]?.row_id ?? null
  if (is[first] === was[first + 1])
    return { seal, row_id, words: `${noun === 'entry' ? 'an' : 'a'} ${noun} before this one is missing` }
  if (is[first + 1] === was[first] || was[first] === undefined)
    return { seal, row_id, words: `this ${noun} was inserted after the seal` }
  return { seal, row_id, words: `this ${noun} was changed` }
}

function digestsIn({ row_digests }: Seal): string[] {
  const text = row_digests.toString('hex')
  return text.match(new RegExp(`.{${rowDigestLength * 2}}`, 'g')) ?? []
}
