import { createSeal, type Seal, type SealedRow } from '../../core/ledger/seal.ts'
import type { Db, Tx } from '../../store/db.ts'
import { addSeal, hasTransfers, lastSeal, rowsToSeal, type SealPlace } from '../../store/ledger/seals.ts'

const hourMs = 3_600_000
const rowsAtOnce = 5000

// Transfers are sealed and summed this long after they were written. The database's clock is read within the statement that
// is sent with the commit, so all rows of that time are visible by then.
export const bookingLagMs = 15 * 60_000

// The rows of a chain: the transfers of a merchant, or the audit log.
export type SealedChain = {
  id: string // a merchant_id, or auditChain
  noun: 'transfer' | 'entry'
  hasRows(from: Date | null, until: Date): Promise<boolean>
  rows(from: Date | null, until: Date): AsyncIterable<SealedRow>
}

export const transferChain = (tx: Tx, merchant_id: string): SealedChain => ({
  id: merchant_id,
  noun: 'transfer',
  hasRows: (from, until) => hasTransfers(tx, merchant_id, from, until),
  rows: (from, until) =>
    rowsInBatches<SealPlace>((behind, limit) => rowsToSeal(tx, { merchant_id, from, until }, behind, limit)),
})

// Seals the transfers of one merchant up to the last full hour. Returns the new seal, if there was something to seal.
export const sealTransfers = (db: Db, merchant_id: string, now: Date) =>
  sealChain(db, transferChain(db, merchant_id), now)

// When the newest of these transfers gets its seal. Undefined: it has one, or there is none.
export function nextSealAt(transfers: readonly { created_at: Date }[], sealedUntil?: Date): Date | undefined {
  const newest = Math.max(...transfers.map(({ created_at }) => created_at.getTime()))
  if (transfers.length === 0 || (sealedUntil && newest < sealedUntil.getTime())) return undefined
  return new Date((Math.floor(newest / hourMs) + 1) * hourMs + bookingLagMs)
}

// A period without rows needs no seal: the next one covers it.
export async function sealChain(db: Db, chain: SealedChain, now: Date): Promise<Seal | undefined> {
  const until_at = new Date(Math.floor((now.getTime() - bookingLagMs) / hourMs) * hourMs)
  const before = await lastSeal(db, chain.id)
  const from = before?.until_at ?? null
  if (from && from >= until_at) return undefined
  if (!(await chain.hasRows(from, until_at))) return undefined
  const seal = createSeal(before, { merchant_id: chain.id, until_at })
  for await (const row of chain.rows(from, until_at)) seal.add(row)
  const made = seal.finish()
  return (await addSeal(db, made, now)) > 0 ? made : undefined
}

export async function* rowsInBatches<Place>(
  read: (behind: Place | undefined, limit: number) => Promise<(SealedRow & Place)[]>,
): AsyncGenerator<SealedRow> {
  let behind: Place | undefined
  for (;;) {
    const rows = await read(behind, rowsAtOnce)
    yield* rows
    behind = rows.at(-1)
    if (rows.length < rowsAtOnce) return
  }
}
