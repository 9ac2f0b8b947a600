import { InvalidInputError } from './errors.ts'

const encoder = new TextEncoder()

export type Bytes = Uint8Array<ArrayBuffer>
export type Hmac = (text: string | Bytes) => Promise<Bytes>

export const utf8 = (text: string): Bytes => encoder.encode(text)

const importKey = (key: Bytes) =>
  crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])

// HMAC-SHA-256 with one key, which is imported once.
export function hmacWith(key: Bytes): Hmac {
  let imported: ReturnType<typeof importKey> | undefined
  return async text => {
    imported ??= importKey(key)
    const data = typeof text === 'string' ? utf8(text) : text
    return new Uint8Array(await crypto.subtle.sign('HMAC', await imported, data))
  }
}

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

export const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

// The fields that a hash covers: of a payment request, or without a total of a status check; of a refund, or without an
// invoice and an amount of the check of a refund.
export type SignedFields =
  | { invoiceId: string; total?: string | undefined }
  | { refundId: string; invoiceId?: string | undefined; amount?: string | undefined }

// Names in alphabetical order, as the gateway builds it.
export function stringToSign(merchantKey: string, fields: SignedFields): string {
  const { amount, invoiceId, refundId, total } = fields as Record<string, string | undefined>
  const values = {
    amount,
    invoice_id: invoiceId,
    merchant_key: merchantKey,
    refund_id: refundId,
    total,
  }
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

// The signing secret of notifications: base64 behind a prefix.
export function notificationKey(secret: string): Bytes {
  try {
    const decoded = atob(secret.replace(/^whsec_/, ''))
    if (decoded !== '') return Uint8Array.from(decoded, letter => letter.charCodeAt(0))
  } catch {
    // The message below says what is wrong.
  }
  throw new InvalidInputError(
    'ipnSecret',
    'is not a signing secret. It begins with whsec_ and is not the secret key.',
  )
}

// Standard Webhooks: the signature of an id, a time and the bytes of a body.
export async function notificationSignature(
  hmac: Hmac,
  id: string,
  timestamp: string,
  body: Bytes,
): Promise<string> {
  const head = utf8(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  return `v1,${base64(await hmac(signed))}`
}

// Takes the same time wherever the texts differ, so that a signature cannot be guessed letter by letter.
export function equalInConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
