import { wrongSignedTexts } from '../../core/interface/diagnosis/wrongTexts.ts'
import type { Fields } from '../../core/interface/json.ts'
import { testKeyOnly } from '../../core/interface/refusal.ts'
import {
  readSignedFields,
  type SignedFields,
  signedString,
  timeRefusal,
} from '../../core/interface/signedFields.ts'
import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import type { CallerLookup } from '../../runtime/callerCache.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import { authenticate, hashRefusal, mustBeReadable, withErrorsAs200 } from './authenticate.ts'

type SignedDeps = Pick<Runtime, 'callers' | 'limits' | 'clock'>

export type SignedRequest<Name extends string> = {
  caller: Caller
  fields: SignedFields<Name>
  deadline: number // for the database work of the request
}

// Reads and authenticates a request of the newer endpoints, see core/interface/signedFields.ts, and passes it to `work`. A
// deactivated merchant passes: `work` decides about it. A refusal of `work` has the merchant's settings for refusals.
export async function withSignedRequest<Name extends string, Answer>(
  runtime: SignedDeps,
  sent: Fields,
  names: readonly Name[],
  address: string,
  work: (request: SignedRequest<Name>) => Promise<Answer>,
): Promise<Answer> {
  const fields = readSignedFields(sent, names)
  if (fields.secure_hash === undefined) runtime.limits.guess(address)
  const deadline = databaseDeadline()
  const found = await runtime.callers.find(fields.merchant_key)
  return withErrorsAs200(found.caller, async () => {
    const caller = await inTime(deadline, authenticateSigned(runtime, found, fields, address))
    return work({ caller, fields, deadline })
  })
}

async function authenticateSigned(
  runtime: SignedDeps,
  found: CallerLookup,
  fields: SignedFields,
  address: string,
): Promise<Caller> {
  if (found.caller) mustBeReadable(found.caller, 'signed')
  const { merchant_key, secure_hash: hash } = fields
  const text = signedString(fields)
  const claim = { merchant_key, strings: [text], hash, wrongTexts: () => wrongSignedTexts(text, fields) }
  const refuse = () => hashRefusal(runtime, found.caller, claim)
  const caller = await authenticate(runtime, found, claim, 'signed', address, refuse)
  const refusal = timeRefusal(fields, runtime.clock())
  if (refusal) {
    runtime.limits.failedLookup(address)
    throw refusal
  }
  runtime.limits.request(caller)
  return caller
}

// For the endpoints that exist in test mode only.
export function mustBeTest({ mode }: Caller) {
  if (mode !== 'test') throw testKeyOnly()
}
