import type { IncomingMessage } from 'node:http'
import { type Fields, parseJsonObject } from '../../core/interface/json.ts'
import { boundaryOf, maxBoundaryLength, parseMultipart } from '../../core/interface/multipart.ts'
import { bodyInPieces, bodyTooLarge, malformed, Refusal } from '../../core/interface/refusal.ts'
import { type BodyMeter, largeBodyBytes } from '../../runtime/bodyQuota.ts'
import type { Runtime } from '../../runtime/runtime.ts'

const maxBodyBytes = 64 * 1024
const maxPieces = 4096 // each costs Node about 3 microseconds; a body of 4 KiB may arrive byte by byte
const maxPairs = 1000 // of a form or a query; the limit of PHP
const minCapacity = 1024
const noBytes = Buffer.alloc(0)

type ParsedBody = { fields: Fields; as: 'json' | 'form' }
export type BodySender = { runtime: Pick<Runtime, 'limits' | 'bodies'>; address: string }

// Reads a body as JSON, urlencoded or multipart. JSON is also recognised by its first character, because many clients
// send it without a content type or with curl's default one. An unreadable body counts as a failed lookup of its
// address.
export async function readFields(incoming: IncomingMessage, sender: BodySender): Promise<ParsedBody> {
  if ((incoming.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Refusal(415, 'GW-014', 'The body must not be compressed.', 'content-encoding')
  const bytes = await readBody(incoming, sender)
  const { limits } = sender.runtime
  const declared = incoming.headers['content-type']
  const type = mediaType(declared)
  const isMultipart = type === 'multipart/form-data' && !startsLikeJson(bytes)
  // Only for multipart: servers that sign requests send JSON, and may share an address with an attacker.
  if (isMultipart) limits.guess(sender.address)
  try {
    return isMultipart
      ? { fields: multipartFields(bytes, declared ?? ''), as: 'form' }
      : parseText(bytes, type)
  } catch (error) {
    if (error instanceof Refusal) limits.failedLookup(sender.address)
    throw error
  }
}

function parseText(bytes: Buffer, type: string | undefined): ParsedBody {
  const text = decode(bytes)
  const declaredJson = type === undefined || /^application\/(.+\+)?json$/.test(type)
  if (declaredJson || startsLikeJson(bytes)) {
    const parsed = parseJsonObject(text)
    if (typeof parsed !== 'string') return { fields: parsed, as: 'json' }
    if (declaredJson || isForm(type)) throw malformed(undefined, parsed)
  } else if (isForm(type)) return { fields: queryFields(text), as: 'form' }
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

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw malformed(undefined, 'The body is not valid UTF-8.')
  }
}

// Reads a body within the quota. It stops reading at the limit, and the connection is closed with the answer.
export function readBody(
  incoming: IncomingMessage,
  { runtime, address }: BodySender,
  maxBytes = maxBodyBytes,
): Promise<Buffer> {
  const declared = Number(incoming.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw bodyTooLarge(maxBytes)
  return new Promise((resolve, reject) => {
    const received = new ReceivedBytes()
    let held: BodyMeter | undefined // only for an incomplete body: most arrive in one chunk
    let pieces = 0
    const take = (chunk: Buffer) => {
      received.add(chunk)
      if (received.size === declared) return
      held ??= runtime.bodies.open(address, declared >= largeBodyBytes, {
        drop: refusal => finish(refusal),
        isPaused: () => incoming.socket.isPaused(),
      })
      held.grow(received.size, received.capacity)
      if (received.size > maxBytes) finish(bodyTooLarge(maxBytes))
      else if (++pieces > maxPieces) finish(bodyInPieces(maxPieces))
    }
    const end = () => finish()
    const broken = () => finish(malformed(undefined, 'The body is incomplete.'))
    const finish = (refusal?: Refusal) => {
      incoming.off('data', take).off('end', end).off('error', broken).off('close', broken)
      held?.close()
      if (!refusal) return resolve(received.bytes())
      incoming.pause()
      reject(refusal)
    }
    incoming.on('data', take).on('end', end).on('error', broken).on('close', broken)
  })
}

// The bytes received so far. Node allocates an object of hundreds of bytes for each chunk, however small. So from the
// second chunk on, the bytes are copied into one buffer, which grows by doubling.
class ReceivedBytes {
  size = 0
  #buffer: Buffer = noBytes

  get capacity() {
    return this.#buffer.length
  }

  add(chunk: Buffer) {
    const size = this.size + chunk.length
    if (this.size === 0) this.#buffer = chunk
    else {
      if (size > this.#buffer.length) this.#enlarge(size)
      chunk.copy(this.#buffer, this.size)
    }
    this.size = size
  }

  #enlarge(needed: number) {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, minCapacity, 2 * this.#buffer.length))
    this.#buffer.copy(larger, 0, 0, this.size)
    this.#buffer = larger
  }

  bytes() {
    return this.#buffer.subarray(0, this.size)
  }
}

// No body counts as an empty one.
export const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

export function queryFields(query: string): Fields {
  if (query.split('&', maxPairs + 1).length > maxPairs)
    throw malformed(undefined, `The request has more than ${maxPairs} fields.`)
  return pairFields(new URLSearchParams(query))
}

// A field that is repeated with the same value counts once. Two different values are ambiguous and refused.
function pairFields(pairs: Iterable<readonly [name: string, value: unknown, ...rest: unknown[]]>): Fields {
  const fields: Fields = Object.create(null)
  for (const [name, value] of pairs) {
    if (typeof value !== 'string') throw malformed(name.slice(0, 80), 'must be text, not a file')
    if (name in fields && fields[name] !== value)
      throw malformed(name.slice(0, 80), 'is sent twice with two values')
    fields[name] = value
  }
  return fields
}

const maxUploadBytes = 320 * 1024 // a logo and the fields beside it

export type Upload = { fields: Fields; files: ReadonlyMap<string, Buffer> }

// Reads a form of our own pages with a file. A file that the browser sends empty was not chosen.
export async function readUpload(incoming: IncomingMessage, sender: BodySender): Promise<Upload> {
  sender.runtime.limits.guess(sender.address)
  const bytes = await readBody(incoming, sender, maxUploadBytes)
  const parts = multipartParts(bytes, incoming.headers['content-type'] ?? '', true)
  const files = parts.flatMap(([name, , file]) =>
    file && file.length > 0 ? [[name, Buffer.from(file)] as const] : [],
  )
  return { fields: pairFields(parts.filter(([, value]) => value !== undefined)), files: new Map(files) }
}

const multipartFields = (bytes: Buffer, type: string): Fields => pairFields(multipartParts(bytes, type))

function multipartParts(bytes: Buffer, type: string, keepsFiles = false) {
  const boundary = boundaryOf(type)
  if (boundary === undefined) throw malformed('content-type', 'has no boundary, or several')
  if (boundary.length > maxBoundaryLength)
    throw malformed('content-type', `the boundary has more than ${maxBoundaryLength} characters`)
  const parts = parseMultipart(bytes, boundary, keepsFiles)
  if (typeof parts === 'string') throw malformed(undefined, parts)
  return parts
}
