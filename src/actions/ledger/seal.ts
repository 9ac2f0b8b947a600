import { createSeal, type Seal, type SealedRow } from '../../core/ledger/seal.ts'
import type { Db, Tx } from '../../store/db.ts'
import { addSeal, hasTransfers, lastSeal, rowsToSeal, type SealPlace } from '../../store/ledger/seals.ts'

const hourMs = 3_600_000
const rowsAtOnce = 5000

// Transfers are sealed and summed this long after they were written. The database's clock is read within the statement that
// is sent with the commit, so all rows of that time are visible by then.
export const bookingLagMs = 15 * 60_000

// Seals the transfers of one merchant up to the last full hour. Returns the new seal, if there was something to seal. A
// period without transfers needs no seal: the next one covers it.
export async function sealTransfers(db: Db, merchant_id: string, now: Date): Promise<Seal | undefined> {
  const until_at = new Date(Math.floor((now.getTime() - bookingLagMs) / hourMs) * hourMs)
  const before = await lastSeal(db, merchant_id)
  const from = before?.until_at ?? null
  if (from && from >= until_at) return undefined
  if (!(await hasTransfers(db, merchant_id, from, until_at))) return undefined
  const seal = createSeal(before, { merchant_id, until_at })
  for await (const row of rowsOfPeriod(db, { merchant_id, from, until: until_at })) seal.add(row)
  const made = seal.finish()
  return (await addSeal(db, made, now)) > 0 ? made : undefined
}

export async function* rowsOfPeriod(
  tx: Tx,
  period: { merchant_id: string; from: Date | null; until: Date },
): AsyncGenerator<SealedRow> {
  let behind: SealPlace | undefined
  for (;;) {
    const rows = await rowsToSeal(tx, period, behind, rowsAtOnce)
    yield* rows
    behind = rows.at(-1)
    if (rows.length < rowsAtOnce) return
  }
}
