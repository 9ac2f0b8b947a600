import { type Fields, NumberText } from './json.ts'
import { malformed, missing, type Refusal, wrongSignature } from './refusal.ts'
import { graceSeconds, isInGrace } from './signature.ts'

// The signature of the newer endpoints covers every field of the request, and the time: a copied request expires.

// The values as they are signed: a number in JSON has the text that was sent.
export type SignedFields<Name extends string = string> = Partial<Record<Name, string>> & {
  merchant_key: string
  time: string
  secure_hash?: string
}

const always = ['merchant_key', 'time', 'secure_hash'] as const
const numeric: ReadonlySet<string> = new Set(['time', 'total']) // may be a number in JSON
const maxShownLength = 40

// The fields of a signed request. Throws a Refusal if a field is missing, has another name than `names` or those that every
// request has, or is of another type. A null of JSON counts as absent.
export function readSignedFields<Name extends string>(
  sent: Fields,
  names: readonly Name[],
): SignedFields<Name> {
  const known: readonly string[] = [...always, ...names]
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(sent)) {
    if (value === null || value === undefined) continue
    if (!known.includes(name)) throw unknownField(name, known)
    const text = value instanceof NumberText && numeric.has(name) ? value.text : value
    if (typeof text !== 'string')
      throw malformed(name, numeric.has(name) ? 'must be text or a number' : 'must be text')
    if (couldBeAnother(text, known)) throw malformed(name, 'must not contain & and the name of a field and =')
    fields[name] = text
  }
  if (!fields.merchant_key) throw missing('merchant_key')
  if (!fields.time) throw malformed('time', 'is missing or empty')
  if (!/^\d{1,15}$/.test(fields.time)) throw malformed('time', 'must be unix seconds')
  return fields as SignedFields<Name>
}

function unknownField(name: string, known: readonly string[]): Refusal {
  const shown = name.slice(0, maxShownLength)
  return malformed(shown, `is not a field of this request, which has ${known.join(', ')}`)
}

// A value is signed as sent, so `a=1&b=2` could be one field or two. Without `&name=` in any value there is one reading.
const couldBeAnother = (value: string, known: readonly string[]) =>
  value.includes('&') && known.some(name => value.includes(`&${name}=`))

// All fields but the hash, sorted by name, as name=value, joined by &.
export const signedString = (fields: Readonly<Record<string, string | undefined>>) =>
  Object.keys(fields)
    .filter(name => name !== 'secure_hash' && fields[name] !== undefined)
    .toSorted()
    .map(name => `${name}=${fields[name]}`)
    .join('&')

// The time of a request that is signed correctly is too far from the gateway's clock. Undefined if it is not.
export function timeRefusal({ time }: Pick<SignedFields, 'time'>, now: Date): Refusal | undefined {
  if (isInGrace(time, now)) return undefined
  const behind = Math.floor(now.getTime() / 1000) - Number(time)
  if (isInGrace(String(Math.floor(Number(time) / 1000)), now))
    return wrongSignature('time', 'is in milliseconds; send seconds')
  return wrongSignature(
    'time',
    `is ${Math.abs(behind)} seconds ${behind > 0 ? 'before' : 'after'} our clock; at most ${graceSeconds} are allowed`,
  )
}
