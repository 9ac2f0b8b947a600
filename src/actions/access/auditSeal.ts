import { auditChain, type Seal } from '../../core/ledger/seal.ts'
import { type AuditPlace, entriesToSeal, hasAuditEntries } from '../../store/access/audit.ts'
import type { Db, Tx } from '../../store/db.ts'
import { lastSeal } from '../../store/ledger/seals.ts'
import { rowsInBatches, sealChain, type SealedChain } from '../ledger/seal.ts'
import { type ChainReport, verifyChain } from '../ledger/verify.ts'

const chainOfEntries = (tx: Tx): SealedChain => ({
  id: auditChain,
  noun: 'entry',
  hasRows: (from, until) => hasAuditEntries(tx, from, until),
  rows: (from, until) =>
    rowsInBatches<AuditPlace>((behind, limit) => entriesToSeal(tx, { from, until }, behind, limit)),
})

// Seals the entries up to the last full hour, if there are any since the seal before.
export const sealAuditLog = (db: Db, now: Date): Promise<Seal | undefined> =>
  sealChain(db, chainOfEntries(db), now)

// Recomputes the chain of the audit log. `expected` is a head that was exported before.
export const verifyAuditLog = (db: Db, expected?: { number: number; digest: string }): Promise<ChainReport> =>
  verifyChain(db, chainOfEntries(db), expected)

export const lastAuditSeal = (tx: Tx) => lastSeal(tx, auditChain)
