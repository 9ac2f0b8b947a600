import { isSameSecret, type OperatorKeys, signed } from './operatorKeys.ts'

// How `tollgate doctor` finds out where an address leads. It sends a signed question there. Only a gateway of this
// installation can verify it, and answers with a signature of the same nonce and with what it sees of the request. The
// question contains no secret, so another program at that address learns nothing, and without a question nobody can tell
// that the path exists.
export const selfCheckPath = '/self-check'
export const selfCheckHeader = 'x-tollgate-question'

const validForSeconds = 60

type SelfCheckKeys = Pick<OperatorKeys, 'selfCheckKey'>

// What the gateway sees of the request.
export type SelfCheckAnswer = {
  proof: string
  address: string // which the gateway takes for the client's
  forwarded_for: string // as it was received
  trusted_proxies: number
}

export function askSelf({ selfCheckKey }: SelfCheckKeys, nonce: string, now: Date): string {
  const expires = Math.floor(now.getTime() / 1000) + validForSeconds
  return `${expires}.${nonce}.${signed(selfCheckKey, `question ${expires} ${nonce}`)}`
}

// The proof that this installation has read the question. Undefined if it is not one of this installation, or has expired.
export function answerSelf({ selfCheckKey }: SelfCheckKeys, question: string, now: Date): string | undefined {
  const [, expires, nonce, signature] = /^(\d{1,12})\.([\w-]{16,64})\.([\w-]{43})$/.exec(question) ?? []
  if (expires === undefined || nonce === undefined || signature === undefined) return undefined
  if (!isSameSecret(signature, signed(selfCheckKey, `question ${expires} ${nonce}`))) return undefined
  return Number(expires) * 1000 > now.getTime() ? proofOf(selfCheckKey, nonce) : undefined
}

export const isOwnAnswer = ({ selfCheckKey }: SelfCheckKeys, nonce: string, proof: string) =>
  isSameSecret(proof, proofOf(selfCheckKey, nonce))

const proofOf = (key: Buffer, nonce: string) => signed(key, `answer ${nonce}`)

// `found`: how many proxies have set the header or added to it.
export type ForwardedFault = { is: 'forgeable' | 'too_few' | 'too_many'; found: number }

// What is wrong with X-Forwarded-For, after a request that had `forged` as its value. A proxy replaces the header, or adds
// the address of its client at the end.
export function whyNotForwarded(
  forged: string,
  { address, forwarded_for, trusted_proxies }: Omit<SelfCheckAnswer, 'proof'>,
): ForwardedFault | undefined {
  const entries = forwarded_for.split(',').map(entry => entry.trim())
  const found = entries.filter(entry => entry !== '' && entry !== forged).length
  if (address === forged) return { is: 'forgeable', found }
  if (found === trusted_proxies) return undefined
  return { is: found < trusted_proxies ? 'too_few' : 'too_many', found }
}
