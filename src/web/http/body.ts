import type { IncomingMessage } from 'node:http'
import { type Fields, parseJsonObject } from '../../core/interface/json.ts'
import { malformed, Refusal, Unavailable } from '../../core/interface/refusal.ts'

const maxBodyBytes = 64 * 1024
const maxBufferedBytes = 64 * 1024 * 1024 // of all bodies that are being read at this moment

export type Sent = { fields: Fields; as: 'json' | 'form' }

const tooLarge = () => new Refusal(413, 'GW-013', `The body is larger than ${maxBodyBytes / 1024} KiB.`)

// A body as JSON, urlencoded or multipart. JSON is recognised by its first character too: many clients send
// it with no content type or with curl's default one.
export async function readFields(incoming: IncomingMessage): Promise<Sent> {
  const { 'content-type': declared, 'content-encoding': encoding = 'identity' } = incoming.headers
  const type = mediaType(declared)
  if (encoding !== 'identity')
    throw new Refusal(415, 'GW-014', 'The body must not be compressed.', 'content-encoding')
  const bytes = await readBody(incoming)
  if (type === 'multipart/form-data' && !startsLikeJson(bytes))
    return { fields: await multipartFields(bytes, declared ?? ''), as: 'form' }
  const text = decode(bytes)
  const declaredJson = type === undefined || /^application\/(.+\+)?json$/.test(type)
  if (declaredJson || startsLikeJson(bytes)) {
    const parsed = parseJsonObject(text)
    if (typeof parsed !== 'string') return { fields: parsed, as: 'json' }
    if (declaredJson || isForm(type)) throw malformed(undefined, parsed)
  } else if (isForm(type)) return { fields: pairFields(new URLSearchParams(text)), as: 'form' }
  throw new Refusal(
    415,
    'GW-014',
    'Send the body as application/json, application/x-www-form-urlencoded or multipart/form-data.',
    'content-type',
  )
}

const isForm = (type: string | undefined) => type === 'application/x-www-form-urlencoded'

const mediaType = (header: string | undefined) => header?.split(';')[0]?.trim().toLowerCase() || undefined

const startsLikeJson = (bytes: Buffer) => /^\s*\{/.test(bytes.toString('latin1', 0, 64))

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed(undefined, 'The body is not valid UTF-8.')
  }
}

let bufferedBytes = 0

// Stops at the limit without reading on; the connection is closed with the answer.
export function readBody(incoming: IncomingMessage): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge()
  if (bufferedBytes > maxBufferedBytes) throw new Unavailable('too many bodies are being read')
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      bufferedBytes += chunk.length
      if (size > maxBodyBytes) finish(tooLarge())
    }
    const end = () => finish()
    const broken = () => finish(malformed(undefined, 'The body broke off.'))
    const finish = (refusal?: Refusal) => {
      incoming.off('data', take).off('end', end).off('error', broken).off('close', broken)
      bufferedBytes -= size
      if (!refusal) return resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
      incoming.pause()
      reject(refusal)
    }
    incoming.on('data', take).on('end', end).on('error', broken).on('close', broken)
  })
}

// None is as good as an empty one.
export const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

export const queryFields = (query: string) => pairFields(new URLSearchParams(query))

// What a form says twice in the same words it says once. Of two values nobody knows which is meant.
function pairFields(pairs: Iterable<[string, unknown]>): Fields {
  const fields: Fields = Object.create(null)
  for (const [name, value] of pairs) {
    if (typeof value !== 'string') throw malformed(name.slice(0, 80), 'must be text, not a file')
    if (name in fields && fields[name] !== value)
      throw malformed(name.slice(0, 80), 'is sent twice with two values')
    fields[name] = value
  }
  return fields
}

async function multipartFields(bytes: Buffer, type: string): Promise<Fields> {
  let form: FormData
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch {
    throw malformed(undefined, 'The body is not valid multipart/form-data.')
  }
  return pairFields(form.entries())
}
