import { randomBytes } from 'node:crypto'
import {
  Refusal,
  unknownMerchant,
  unreadableSetting,
  wrongHash,
  wrongSignature,
} from '../../core/interface/refusal.ts'
import {
  feedFault,
  feedHeader,
  feedMistake,
  type FeedSignature,
  isSigned,
  likelyMistake,
} from '../../core/interface/signature.ts'
import type { SettingName } from '../../core/merchant/settings.ts'
import type { CallerCache, CallerLookup } from '../../runtime/callerCache.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import type { Caller } from '../../store/merchants/callers.ts'

type Claim = { merchant_key: string; strings: readonly string[]; hash: string | undefined }

// Hashed for an unknown merchant, so that it takes as long as for a known one: a secret has two readings.
const decoySecrets: readonly Buffer[] = [randomBytes(64), randomBytes(32)]

// Returns the merchant that signed the claim. Otherwise it throws the refusal, and counts a failed lookup of the address.
export async function authenticate(
  { callers, limits }: { callers: CallerCache; limits: RateLimits },
  found: CallerLookup,
  claim: Claim,
  operation: ApiOperation,
  address: string,
  refuse: () => Refusal,
): Promise<Caller> {
  const signer = await findSigner(callers, found, claim)
  if (!signer) {
    limits.failedLookup(address)
    throw refuse()
  }
  if (signer !== found.caller) mustBeReadable(signer, operation)
  return signer
}

// The cached caller or, if it was changed a moment ago, the caller as it is now. A wrong claim costs the same for a known
// and for an unknown merchant: one read of the caller, and every hash twice.
async function findSigner(
  callers: CallerCache,
  { caller: known, isFresh }: CallerLookup,
  { merchant_key, strings, hash }: Claim,
): Promise<Caller | undefined> {
  if (isSigned(known?.secrets ?? decoySecrets, strings, hash)) return known
  const fresh = isFresh ? known : await callers.findFresh(merchant_key)
  return isSigned(fresh?.secrets ?? decoySecrets, strings, hash) ? fresh : undefined
}

// In test mode the refusal contains the string that was hashed, never the secret. An unknown merchant gets another refusal
// after the same work.
export function hashRefusal(
  caller: Caller | undefined,
  claim: Claim,
  forUnknown = unknownMerchant,
  mistakeOf: (hash: string | undefined, secrets: readonly Buffer[], text: string) => string = likelyMistake,
): Refusal {
  const { hash, strings } = claim
  const refusal = wrongHash(hash === undefined ? 'is missing' : 'does not match this request')
  if (isTest(caller, claim)) {
    const likely_mistake = mistakeOf(hash, caller?.secrets ?? decoySecrets, strings[0] ?? '')
    refusal.hint = { hashed_string: strings[0] ?? '', likely_mistake }
  }
  return caller ? refusal : forUnknown()
}

// The same for a signature that contains its time.
export function feedRefusal(
  caller: Caller | undefined,
  claim: Claim,
  signature: FeedSignature,
  now: Date,
): Refusal {
  const [text = ''] = claim.strings
  const secrets = caller?.secrets ?? decoySecrets
  const refusal = wrongSignature(feedHeader, feedFault(signature, secrets, text, now))
  if (isTest(caller, claim))
    refusal.hint = { hashed_string: text, likely_mistake: feedMistake(signature, secrets, text, now) }
  return caller ? refusal : unknownMerchant()
}

const isTest = (caller: Caller | undefined, { merchant_key }: Claim) =>
  caller ? caller.mode === 'test' : merchant_key.startsWith('tk_')

// The settings that restrict each operation. While one of them cannot be read, its default could allow what the merchant
// has forbidden.
const guards = {
  initiation: [
    'unsigned_requests',
    'allowed_origins',
    'form_ipn_url',
    'currencies',
    'min_total',
    'max_total',
    'rate_limit',
    'rate_burst',
  ],
  status: ['signed_status_checks', 'rate_limit', 'rate_burst'],
  feed: ['rate_limit', 'rate_burst'],
  signed: ['rate_limit', 'rate_burst'],
} as const satisfies Record<string, readonly SettingName[]>

type ApiOperation = keyof typeof guards

export function mustBeReadable({ merchant_id, unreadable: names, sealed }: Caller, operation: ApiOperation) {
  if (sealed !== undefined)
    throw unreadableSetting('the secret of this merchant_key, which cannot be opened', String(sealed))
  const guarding = names.filter(name => guards[operation].some(guard => guard === name))
  if (guarding.length === 0) return
  const list = guarding.join(', ')
  const settings = guarding.length === 1 ? 'the setting' : 'the settings'
  throw unreadableSetting(
    `${settings} ${list}, which cannot be read`,
    `settings of merchant ${merchant_id}: ${list}`,
  )
}

// Adds the merchant to its refusals, and marks those that its client expects with status 200.
export async function withErrorsAs200<T>(caller: Caller | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) {
      error.as200 = caller?.settings.errors_as_200 ?? false
      error.merchant = caller && { merchant_id: caller.merchant_id, mode: caller.mode }
    }
    throw error
  }
}
