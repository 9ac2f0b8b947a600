import { timingSafeEqual } from 'node:crypto'
import type { SignatureHint } from '../refusal.ts'
import { hmac } from '../signature.ts'
import { type HashReading, readHash } from './readings.ts'
import type { WrongText } from './spellings.ts'
import { ofOtherAlgorithms, ofOtherKeys, ofSecretInText, ofWrongTexts, type Trial } from './wrongDigests.ts'

// What is known about a wrong hash. `secrets` are the readings of the merchant's own secret of this mode; another mode's
// secret is never tried. For an unknown merchant all keys are decoys of the same length.
export type WrongHash = {
  name: 'secure_hash' | 'v1'
  hash: string
  secrets: readonly Buffer[]
  ipnKey: Buffer
  merchant_key: string
  right: readonly string[] // the accepted texts, as sent first
  texts: readonly WrongText[] | undefined // undefined: the values are too long to be tried
}

// Names the usual mistake that gives exactly this hash. Every candidate is computed and compared, whether or not another
// one has matched, so the time says nothing. A match is at least 16 bytes long, so it cannot be guessed: only a client that
// has computed something with the secret, or with no secret at all, is told more than that its hash is wrong.
export function diagnose(wrong: WrongHash): SignatureHint {
  const { right, texts } = wrong
  const hashed_string = right[0] ?? ''
  if (!texts) return { hashed_string, likely_mistake: notTried('the values are too long') }
  const readings = readHash(wrong.hash)
  const trials = allTrials(wrong, texts)
  let found: [Trial, HashReading] | undefined
  for (const trial of trials)
    for (const reading of readings) {
      const isEqual = matches(trial, reading)
      found ??= isEqual ? [trial, reading] : undefined
    }
  if (!found) return { hashed_string, likely_mistake: unmatched(wrong, trials.length) }
  const [{ mistake, text }, reading] = found
  return {
    hashed_string,
    likely_mistake: sentenceOf(found[0], reading),
    mistake: mistake || 'other_encoding',
    ...(text !== undefined && { your_string: text }),
  }
}

export const notTried = (why: string) => `not known: the usual mistakes were not tried, because ${why}`

const rightTexts = 'right'

function allTrials(
  { right, secrets, ipnKey, merchant_key }: WrongHash,
  texts: readonly WrongText[],
): Trial[] {
  const [text = ''] = right
  const [secret = Buffer.alloc(0)] = secrets
  const values = texts.filter(({ mistake }) => mistake === 'values_only').slice(0, secretTexts)
  return [
    ...right.flatMap(one => secrets.map(key => ({ mistake: '', wrong: rightTexts, digest: hmac(key, one) }))),
    ...ofWrongTexts(secrets.slice(0, 1), texts),
    ...ofWrongTexts(
      secrets.slice(1),
      texts.filter(({ mistake }) => withDecodedKey.has(mistake)),
    ),
    ...ofOtherAlgorithms(secrets, text),
    ...ofOtherKeys({ secret, merchant_key, ipnKey }, text),
    ...ofSecretInText(
      secret,
      text,
      values.map(value => value.text),
    ),
  ]
}

const secretTexts = 6 // the values in three orders, joined by nothing and by |

// A hexadecimal secret may also be used as its bytes. Few programs do that, so only the commonest mistakes are tried.
const withDecodedKey: ReadonlySet<string> = new Set([
  'other_order',
  'other_total',
  'line_break',
  'url_encoded',
])

function matches({ digest }: Trial, { bytes, isStart }: HashReading): boolean {
  if (isStart ? digest.length <= bytes.length : digest.length !== bytes.length) return false
  return timingSafeEqual(digest.subarray(0, bytes.length), bytes)
}

function sentenceOf({ mistake, wrong }: Trial, reading: HashReading): string {
  if (mistake === '') return `the hash is right but ${reading.wrong ?? 'not in this form'}`
  return reading.wrong ? `${wrong}; and the hash is ${reading.wrong}` : wrong
}

// Says only what is certain: a hash does not show how it was made.
function unmatched({ name, hash }: WrongHash, tried: number): string {
  const other = `it was made with another secret_key (an older one, or that of live mode), from another text than the string above, or in another way than the ${tried} that were tried`
  if (!/^[0-9a-f]+$/i.test(hash)) return `${name} is not hexadecimal, and ${other}`
  if (hash.length !== 64)
    return `${name} has ${hash.length} characters; HMAC-SHA-256 in hexadecimal has 64; and ${other}`
  return other
}
