import { randomBytes } from 'node:crypto'
import type { Refusal } from '../../core/interface/refusal.ts'
import { isSigned } from '../../core/interface/signature.ts'
import type { CallerCache, Found } from '../../runtime/callerCache.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import { type Guarded, mustBeReadable } from './mustBeReadable.ts'

export type Claim = { merchant_key: string; strings: readonly string[]; hash: string | undefined }

// Hashed for an unknown merchant: two readings of a secret, as a known one has.
export const decoySecrets: readonly Buffer[] = [randomBytes(64), randomBytes(32)]

// The merchant that signed the claim; otherwise the refusal, and the address has one guess less.
export async function authenticate(
  { callers, limits }: { callers: CallerCache; limits: RateLimits },
  found: Found,
  claim: Claim,
  door: Guarded,
  address: string,
  refuse: () => Refusal,
): Promise<Caller> {
  const signer = await signedBy(callers, found, claim)
  if (!signer) {
    limits.failedLookup(address)
    throw refuse()
  }
  if (signer !== found.caller) mustBeReadable(signer, door)
  return signer
}

// The caller as we know it or, when it was changed a moment ago, as it is now. A claim that does not hold costs the same
// for a known merchant and for an unknown one: one reading of it, and every hash twice.
async function signedBy(
  callers: CallerCache,
  { caller: known, isFresh }: Found,
  { merchant_key, strings, hash }: Claim,
): Promise<Caller | undefined> {
  if (isSigned(known?.secrets ?? decoySecrets, strings, hash)) return known
  const fresh = isFresh ? known : await callers.findFresh(merchant_key)
  return isSigned(fresh?.secrets ?? decoySecrets, strings, hash) ? fresh : undefined
}
