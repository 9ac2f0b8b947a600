// How the end of a body is found. `untrusted`: its headers contradict each other, so nobody knows.
export type Framing = number | 'chunks' | 'until_close' | 'untrusted'

export type Head = {
  status: number
  framing: Framing
  isKept: boolean // the connection, by the rule of this version of HTTP
  keptMs: number // for so long, by the word of the server
  retryAfter: string | null
}

const maxRetryAfterLength = 100

// One test for all lines at once is cheaper than one for each. Lines end as the standard says, with both characters:
// a lone line feed is where two readers of the same bytes begin to disagree.
const shape = /^HTTP\/1\.[01] [1-9]\d\d(?: [^\r\n\0]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*$/

// The status line and the headers, up to the empty line. Undefined when they are not HTTP.
export function readHead(text: string): Head | undefined {
  if (!shape.test(text)) return undefined
  const isModern = text.charCodeAt(7) === 0x31 // HTTP/1.1, where connections are kept unless it is said
  const head: Head = {
    status: Number(text.slice(9, 12)),
    framing: 'until_close',
    isKept: isModern,
    keptMs: Number.POSITIVE_INFINITY,
    retryAfter: null,
  }
  for (let at = text.indexOf('\n') + 1; at < text.length; ) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r', colon)
    const name = lengths.has(colon - at) ? text.slice(at, colon).toLowerCase() : ''
    readers.get(name)?.(head, text.slice(colon + 1, end), isModern)
    at = end + 2
  }
  if (isBodiless(head)) head.framing = 0
  return head
}

// Whether these may be the first bytes of an answer, of which the rest is on its way. What was looked at before
// `fresh` is not looked at again, for the sake of those who send byte by byte.
export function mayBegin(text: string, fresh: number): boolean {
  if (text.length < 12) return 'HTTP/1.'.startsWith(text.slice(0, 7))
  return beginning.test(text) && !loneFeed.test(text.slice(Math.max(0, fresh - 1)))
}

const beginning = /^HTTP\/1\.[01] [1-9]\d\d/
const loneFeed = /[^\r]\n/
const isClosing = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const isKeeping = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i
const isChunked = /^[ \t]*chunked[ \t]*$/i
const isLength = /^[ \t]*\d{1,15}[ \t]*$/
const timeout = /(?:^|[,;\s])timeout=(\d{1,9})/i

const isBodiless = ({ status, framing }: Head) =>
  framing !== 'untrusted' && (status === 204 || status === 304)

type Reader = (head: Head, value: string, isModern: boolean) => void

// A second word about the length, even the same, spoils the body.
const readLength: Reader = (head, value) => {
  const isFirst = head.framing === 'until_close'
  head.framing = isFirst && isLength.test(value) ? Number(value) : 'untrusted'
}

const readCoding: Reader = (head, value, isModern) => {
  const isFirst = head.framing === 'until_close'
  head.framing = isFirst && isModern && isChunked.test(value) ? 'chunks' : 'untrusted'
}

const readConnection: Reader = (head, value) => {
  if (isClosing.test(value)) head.keptMs = 0
  else if (isKeeping.test(value)) head.isKept = true
}

const readPatience: Reader = (head, value) => {
  const [, seconds] = timeout.exec(value) ?? []
  if (seconds !== undefined) head.keptMs = Math.min(head.keptMs, Number(seconds) * 1000)
}

const readRetryAfter: Reader = (head, value) => {
  head.retryAfter ??= value.trim().slice(0, maxRetryAfterLength)
}

// Of all headers only these are read.
const readers: ReadonlyMap<string, Reader> = new Map([
  ['content-length', readLength],
  ['transfer-encoding', readCoding],
  ['connection', readConnection],
  ['keep-alive', readPatience],
  ['retry-after', readRetryAfter],
])
const lengths = new Set([...readers.keys()].map(name => name.length))
