import { randomBytes } from 'node:crypto'
import { diagnose, notTried } from '../../core/interface/diagnosis/diagnose.ts'
import type { WrongText } from '../../core/interface/diagnosis/spellings.ts'
import {
  Refusal,
  type SignatureHint,
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
} from '../../core/interface/signature.ts'
import type { SettingName } from '../../core/merchant/settings.ts'
import type { CallerCache, CallerLookup } from '../../runtime/callerCache.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import type { Caller } from '../../store/merchants/callers.ts'

// `wrongTexts` makes the texts that a developer may have hashed instead; undefined if the request is too long for that.
export type Claim = {
  merchant_key: string
  strings: readonly string[]
  hash: string | undefined
  wrongTexts(): readonly WrongText[] | undefined
}

// Hashed for an unknown merchant, so that it takes as long as for a known one: a secret has two readings.
const decoySecrets: readonly Buffer[] = [randomBytes(64), randomBytes(32)]
const decoyIpnKey = randomBytes(32)

type Deps = { callers: CallerCache; limits: RateLimits }

// Returns the merchant that signed the claim. Otherwise it throws the refusal, and counts a failed lookup of the address.
export async function authenticate(
  { callers, limits }: Deps,
  found: CallerLookup,
  claim: Claim,
  operation: ApiOperation,
  address: string,
  refuse: () => Refusal | Promise<Refusal>,
): Promise<Caller> {
  const signer = await findSigner(callers, found, claim)
  if (!signer) {
    limits.failedLookup(address)
    throw await refuse()
  }
  if (signer !== found.caller) mustBeReadable(signer, operation)
  callers.used.add(signer.merchant_key, signer.merchant_id)
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

// In test mode the refusal contains the string that was hashed, and the likely mistake, never the secret. An unknown
// merchant gets another refusal after the same work.
export async function hashRefusal(
  deps: Deps,
  caller: Caller | undefined,
  claim: Claim,
  forUnknown = unknownMerchant,
): Promise<Refusal> {
  const isMissing = claim.hash === undefined
  const refusal = wrongHash(isMissing ? 'is missing' : 'does not match this request')
  if (isTest(caller, claim))
    refusal.hint = isMissing
      ? { hashed_string: claim.strings[0] ?? '', likely_mistake: 'secure_hash was not sent' }
      : await diagnoseClaim(deps, caller, claim, 'secure_hash')
  return caller ? refusal : forUnknown()
}

// The same for a signature that contains its time.
export async function feedRefusal(
  deps: Deps,
  caller: Caller | undefined,
  claim: Claim,
  signature: FeedSignature,
  now: Date,
): Promise<Refusal> {
  const [text = ''] = claim.strings
  const secrets = caller?.secrets ?? decoySecrets
  const refusal = wrongSignature(feedHeader, feedFault(signature, secrets, text, now))
  const isWrong = signature.sent === 'whole' && !isSigned(secrets, [text], signature.hash)
  if (isTest(caller, claim))
    refusal.hint = isWrong
      ? await diagnoseClaim(deps, caller, claim, 'v1')
      : { hashed_string: text, likely_mistake: feedMistake(signature, now) }
  return caller ? refusal : unknownMerchant()
}

// Called after the failed lookup was counted, so an address is limited. All addresses together are limited, too.
async function diagnoseClaim(
  { callers, limits }: Deps,
  caller: Caller | undefined,
  { merchant_key, strings: right, hash = '', wrongTexts }: Claim,
  name: 'secure_hash' | 'v1',
): Promise<SignatureHint> {
  if (!limits.mayDiagnose())
    return {
      hashed_string: right[0] ?? '',
      likely_mistake: notTried('the gateway gets too many wrong hashes at the moment; repeat the request'),
    }
  const ipnKey = await callers.findIpnKey(caller?.merchant_id ?? '', 'test')
  return diagnose({
    name,
    hash,
    secrets: caller?.secrets ?? decoySecrets,
    ipnKey: ipnKey ?? decoyIpnKey,
    merchant_key,
    right,
    texts: wrongTexts(),
  })
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
  refund: ['refunds', 'refund_daily_limit', 'rate_limit', 'rate_burst'],
  refundCheck: ['rate_limit', 'rate_burst'],
  signed: ['rate_limit', 'rate_burst'],
} as const satisfies Record<string, readonly SettingName[]>

type ApiOperation = keyof typeof guards

export function mustBeReadable(
  { merchant_id, unreadable: names, sealed }: Pick<Caller, 'merchant_id' | 'unreadable' | 'sealed'>,
  operation: ApiOperation,
) {
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
