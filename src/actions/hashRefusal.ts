import { wrongHash } from '../core/refusal.ts'
import { likelyMistake } from '../core/signature.ts'
import type { Caller } from '../store/callers.ts'

// A developer who tests is told what we hashed; nobody else is, and never the secret.
export function hashRefusal(caller: Caller, text: string, hash: string | undefined) {
  const refusal = wrongHash(hash === undefined ? 'is missing' : 'does not match this request')
  if (caller.mode === 'test')
    refusal.hint = { hashed_string: text, likely_mistake: likelyMistake(hash, caller.secrets, text) }
  return refusal
}
