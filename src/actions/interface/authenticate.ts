import { randomBytes } from 'node:crypto'
import { isSigned } from '../../core/interface/signature.ts'
import type { CallerCache, Found } from '../../runtime/callerCache.ts'
import type { Caller } from '../../store/merchants/callers.ts'

export type Claim = { merchant_key: string; strings: readonly string[]; hash: string | undefined }

// Hashed for an unknown merchant: two readings of a secret, as a known one has.
export const nobody: readonly Buffer[] = [randomBytes(64), randomBytes(32)]

// The caller that signed, as we know it or, when it was changed a moment ago, as it is now. A claim that does not hold
// costs the same for a known merchant and for an unknown one: one reading of it, and every hash twice.
export async function signedBy(
  callers: CallerCache,
  { caller: known, isFresh }: Found,
  { merchant_key, strings, hash }: Claim,
): Promise<Caller | undefined> {
  if (isSigned(known?.secrets ?? nobody, strings, hash)) return known
  const fresh = isFresh ? known : await callers.findFresh(merchant_key)
  return isSigned(fresh?.secrets ?? nobody, strings, hash) ? fresh : undefined
}
