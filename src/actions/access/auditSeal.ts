import { auditChain, type Seal } from '../../core/ledger/seal.ts'
import {
  type AuditPlace,
  countEntriesOf,
  entriesToSeal,
  hasAuditEntries,
  isEntryOf,
} from '../../store/access/audit.ts'
import type { Db, Tx } from '../../store/db.ts'
import { lastSeal } from '../../store/ledger/seals.ts'
import { rowsInBatches, sealChain, type SealedChain } from '../ledger/seal.ts'
import { type ChainReport, verifyChain } from '../ledger/verify.ts'

const chainOfEntries = (open: () => Tx): SealedChain => ({
  id: auditChain,
  noun: 'entry',
  hasRows: (from, until) => hasAuditEntries(open(), from, until),
  rows: (from, until) =>
    rowsInBatches<AuditPlace>((behind, limit) => entriesToSeal(open(), { from, until }, behind, limit)),
})

// Seals the entries up to the last full hour, if there are any since the seal before.
export const sealAuditLog = (db: Db, now: Date): Promise<Seal | undefined> =>
  sealChain(
    db,
    chainOfEntries(() => db),
    now,
  )

// Recomputes the chain of the audit log. `open` gives a database for each batch, because the whole log takes longer than one
// request of the dashboard may take. `expected` is a head that was exported before.
export const verifyAuditLog = (
  open: () => Tx,
  expected?: { number: number; digest: string },
): Promise<ChainReport> => verifyChain(open, chainOfEntries(open), expected)

export type MerchantLogReport =
  | { state: 'intact'; entries: number; until_at: Date } // that are sealed
  | { state: 'unsealed' }
  | { state: 'broken'; seal: number; entry: string; words: string } // an entry of this merchant
  | { state: 'broken_elsewhere'; seal: number }

// The chain covers the entries of all merchants, so all of it is computed again. A fault in an entry of another merchant, or
// of the installation, is reported without that entry: from there on the chain does not prove the merchant's entries either.
export async function verifyMerchantLog(open: () => Tx, merchant_id: string): Promise<MerchantLogReport> {
  const { sealFault, head } = await verifyAuditLog(open)
  if (!head) return { state: 'unsealed' }
  if (!sealFault)
    return {
      state: 'intact',
      entries: await countEntriesOf(open(), merchant_id, head.until_at),
      until_at: head.until_at,
    }
  const { seal, row_id: entry, words } = sealFault
  const isOwn = entry !== null && (await isEntryOf(open(), merchant_id, entry))
  return isOwn ? { state: 'broken', seal, entry, words } : { state: 'broken_elsewhere', seal }
}

export const lastAuditSeal = (tx: Tx) => lastSeal(tx, auditChain)
