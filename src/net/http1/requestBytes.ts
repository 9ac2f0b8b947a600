import type { Target } from '../target.ts'

export type RequestParts = {
  method: 'POST' | 'GET'
  headers: Record<string, string>
  body?: string | Buffer
}

// Said by us, as what follows on the connection depends on it.
const ours: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const nameShape = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const valueShape = /^[\t\x20-\x7e\x80-\xff]*$/

// The same few names come again and again.
const sayable = new Set<string>()
const maxRemembered = 100

function isSayable(name: string): boolean {
  if (sayable.has(name)) return true
  if (!nameShape.test(name) || ours.has(name)) return false
  if (sayable.size < maxRemembered) sayable.add(name)
  return true
}

// A whole request in one piece, so that it leaves in one packet if it fits. Gives back the sentence that says what
// cannot be written. Nothing is ever inflated, so that a small answer cannot become a large one.
export function requestBytes(target: Target, { method, headers, body }: RequestParts): Buffer | string {
  let head = `${method} ${target.path} HTTP/1.1\r\nhost: ${target.authority}\r\nconnection: keep-alive\r\n`
  for (const name of Object.keys(headers)) {
    const value = headers[name] as string
    if (!isSayable(name) || !valueShape.test(value)) return `invalid ${name} header`
    head += `${name}: ${value}\r\n`
  }
  head += 'accept-encoding: identity\r\n'
  const text = body ?? ''
  const length = Buffer.byteLength(text)
  if (method === 'POST' || length > 0) head += `content-length: ${length}\r\n`
  return join(`${head}\r\n`, text, length)
}

function join(head: string, body: string | Buffer, length: number) {
  const bytes = Buffer.allocUnsafe(head.length + length)
  bytes.write(head, 'latin1')
  if (typeof body === 'string') bytes.write(body, head.length)
  else body.copy(bytes, head.length)
  return bytes
}
