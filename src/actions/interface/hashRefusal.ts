import { type Refusal, unknownMerchant, wrongHash, wrongSignature } from '../../core/interface/refusal.ts'
import {
  feedFault,
  feedHeader,
  feedMistake,
  type FeedSignature,
  likelyMistake,
} from '../../core/interface/signature.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import { type Claim, nobody } from './authenticate.ts'

// A developer who tests is told what we hashed; nobody else is, and never the secret. An unknown merchant gets the
// refusal for strangers, after the same work.
export function hashRefusal(
  caller: Caller | undefined,
  claim: Claim,
  forStrangers = unknownMerchant,
): Refusal {
  const { hash, strings } = claim
  const refusal = wrongHash(hash === undefined ? 'is missing' : 'does not match this request')
  if (isTest(caller, claim)) {
    const likely_mistake = likelyMistake(hash, caller?.secrets ?? nobody, strings[0] ?? '')
    refusal.hint = { hashed_string: strings[0] ?? '', likely_mistake }
  }
  return caller ? refusal : forStrangers()
}

// The same of a signature that carries its time.
export function feedRefusal(
  caller: Caller | undefined,
  claim: Claim,
  signature: FeedSignature,
  now: Date,
): Refusal {
  const [text = ''] = claim.strings
  const secrets = caller?.secrets ?? nobody
  const refusal = wrongSignature(feedHeader, feedFault(signature, secrets, text, now))
  if (isTest(caller, claim))
    refusal.hint = { hashed_string: text, likely_mistake: feedMistake(signature, secrets, text, now) }
  return caller ? refusal : unknownMerchant()
}

const isTest = (caller: Caller | undefined, { merchant_key }: Claim) =>
  caller ? caller.mode === 'test' : merchant_key.startsWith('tk_')
