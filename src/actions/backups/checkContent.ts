import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { verifyAuditLog } from '../access/auditSeal.ts'
import { isIntact, verifyLedger } from '../ledger/verify.ts'

export type ContentReport = { merchants: number; transfers: bigint; audit_entries: bigint; faults: string[] }

// Recomputes the seals of the ledger and of the audit log in a restored database. A fault here is one of the original too:
// the rows are those that it had.
export async function checkContent(
  db: Db,
  now: Date,
  onProgress: (done: number, ofMerchants: number) => void,
): Promise<ContentReport> {
  const merchants = await listMerchants(db)
  const faults: string[] = []
  let transfers = 0n
  for (const [done, { merchant_id }] of merchants.entries()) {
    const report = await verifyLedger(db, merchant_id, now)
    transfers += report.transfers
    if (!isIntact(report)) faults.push(`the ledger of merchant ${merchant_id} does not fit`)
    onProgress(done + 1, merchants.length)
  }
  const audit = await verifyAuditLog(() => db)
  if (audit.sealFault) faults.push(`the audit log: ${audit.sealFault.words}`)
  return { merchants: merchants.length, transfers, audit_entries: audit.rows, faults }
}
