// How the end of a body is found. `untrusted`: the headers contradict each other.
type Framing = number | 'chunks' | 'until_close' | 'untrusted'

type Head = {
  status: number
  framing: Framing
  isKept: boolean // the connection, by the default of this version of HTTP
  keptMs: number // for how long the server keeps it, according to its headers
  retryAfter: string | null
}

const maxRetryAfterLength = 100

// One test of all lines at once is cheaper than one of each. Lines end with CR and LF, as the standard requires: two readers
// of the same bytes may disagree on a lone line feed.
const shape = /^HTTP\/1\.[01] [1-9]\d\d(?: [^\r\n\0]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*$/

// The status line and the headers, up to the empty line. Undefined if they are not HTTP.
export function readHead(text: string): Head | undefined {
  if (!shape.test(text)) return undefined
  const isModern = text.charCodeAt(7) === 0x31 // HTTP/1.1 keeps connections by default
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
    const name = nameLengths.has(colon - at) ? text.slice(at, colon).toLowerCase() : ''
    headerReaders.get(name)?.(head, text.slice(colon + 1, end), isModern)
    at = end + 2
  }
  if (isBodiless(head)) head.framing = 0
  return head
}

// Whether these can be the first bytes of a response. Only the bytes from `fresh` on are checked for line feeds, because a
// slow server may send byte by byte.
function canBeHead(text: string, fresh: number): boolean {
  if (text.length < 12) return 'HTTP/1.'.startsWith(text.slice(0, 7))
  return statusLineStart.test(text) && !loneFeed.test(text.slice(Math.max(0, fresh - 1)))
}

const statusLineStart = /^HTTP\/1\.[01] [1-9]\d\d/
const loneFeed = /[^\r]\n/
const isClosing = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const isKeeping = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i
const isChunked = /^[ \t]*chunked[ \t]*$/i
const isLength = /^[ \t]*\d{1,15}[ \t]*$/
const timeout = /(?:^|[,;\s])timeout=(\d{1,9})/i

const isBodiless = ({ status, framing }: Head) =>
  framing !== 'untrusted' && (status === 204 || status === 304)

type HeaderReader = (head: Head, value: string, isModern: boolean) => void

// A second header about the length, even an equal one, makes the framing untrusted.
const readLength: HeaderReader = (head, value) => {
  const isFirst = head.framing === 'until_close'
  head.framing = isFirst && isLength.test(value) ? Number(value) : 'untrusted'
}

const readCoding: HeaderReader = (head, value, isModern) => {
  const isFirst = head.framing === 'until_close'
  head.framing = isFirst && isModern && isChunked.test(value) ? 'chunks' : 'untrusted'
}

const readConnection: HeaderReader = (head, value) => {
  if (isClosing.test(value)) head.keptMs = 0
  else if (isKeeping.test(value)) head.isKept = true
}

const readKeepAlive: HeaderReader = (head, value) => {
  const [, seconds] = timeout.exec(value) ?? []
  if (seconds !== undefined) head.keptMs = Math.min(head.keptMs, Number(seconds) * 1000)
}

const readRetryAfter: HeaderReader = (head, value) => {
  head.retryAfter ??= value.trim().slice(0, maxRetryAfterLength)
}

// All other headers are ignored.
const headerReaders: ReadonlyMap<string, HeaderReader> = new Map([
  ['content-length', readLength],
  ['transfer-encoding', readCoding],
  ['connection', readConnection],
  ['keep-alive', readKeepAlive],
  ['retry-after', readRetryAfter],
])
const nameLengths = new Set([...headerReaders.keys()].map(name => name.length))

const lineFeed = 0x0a
const sizeLine = /^([0-9a-f]{1,8})[ \t]*(?:;[^\r]*)?\r\n$/i // up to 4 GiB, more than is ever read
const trailerLine = /^[^\r]+\r\n$/

type Keep = (bytes: Buffer, from: number, to: number) => void

// Decodes a chunked body, wherever packets are cut. The caller limits how many bytes it passes in.
class ChunkedBody {
  readonly #keep: Keep
  #next: 'size' | 'gap' | 'trailer' = 'size' // the line that follows the current data
  #left = 0
  #line = ''
  state: 'reading' | 'ended' | 'broken' = 'reading'

  constructor(keep: Keep) {
    this.#keep = keep
  }

  // Returns where it has stopped: at `to`, or behind the last chunk.
  read(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to && this.state === 'reading')
      at = this.#left > 0 ? this.#readData(bytes, at, to) : this.#readLine(bytes, at, to)
    return at
  }

  #readData(bytes: Buffer, from: number, to: number): number {
    const end = Math.min(to, from + this.#left)
    this.#keep(bytes, from, end)
    this.#left -= end - from
    return end
  }

  #readLine(bytes: Buffer, from: number, to: number): number {
    const found = bytes.indexOf(lineFeed, from)
    const isWhole = found >= 0 && found < to
    const end = isWhole ? found + 1 : to
    this.#line += bytes.toString('latin1', from, end)
    if (!isWhole) return end
    const line = this.#line
    this.#line = ''
    if (!this.#follow(line)) this.state = 'broken'
    return end
  }

  #follow(line: string): boolean {
    if (this.#next === 'size') return this.#begin(sizeLine.exec(line)?.[1])
    if (this.#next === 'trailer' && line !== '\r\n') return trailerLine.test(line)
    if (this.#next === 'trailer') this.state = 'ended'
    this.#next = 'size'
    return line === '\r\n'
  }

  #begin(size: string | undefined): boolean {
    if (size === undefined) return false
    this.#left = Number.parseInt(size, 16)
    this.#next = this.#left === 0 ? 'trailer' : 'gap'
    return true
  }
}

const maxHeadBytes = 16 * 1024 // with the interim responses before it
const maxReadBytes = 64 * 1024
const defaultKeptBytes = 4 * 1024

const nothing = Buffer.alloc(0)

// Reads one response, wherever packets are cut. It never waits or throws. Once `head` is set, no fault of the body takes
// it back.
export class ResponseReader {
  head: Head | undefined
  hasBytes = false // a byte was received
  over = false
  complete = false // the body was read to its end
  reusable = false // the response ended where it should, and the connection is free for the next request
  fault = '' // why it is not a response
  #partialHead = '' // an incomplete head
  #headBytes = 0
  #readBytes = 0
  #left = 0
  #kept: Buffer[] = []
  #keptBytes = 0
  #chunks: ChunkedBody | undefined
  readonly #maxKept: number
  readonly #maxRead: number

  constructor(maxKeptBytes = defaultKeptBytes) {
    this.#maxKept = maxKeptBytes
    this.#maxRead = Math.max(maxReadBytes, maxKeptBytes)
  }

  read(bytes: Buffer) {
    this.hasBytes = true
    const at = this.head ? 0 : this.#readHeads(bytes)
    if (this.head && !this.over) this.#readBody(bytes, at)
  }

  // The server has closed the connection in order, which ends a body without a length.
  closed() {
    if (this.head?.framing === 'until_close' && !this.over) this.complete = true
  }

  // The beginning of the body.
  body(): Buffer {
    const [first = nothing] = this.#kept
    return this.#kept.length > 1 ? Buffer.concat(this.#kept) : first
  }

  // Returns where the body begins. Interim responses are skipped.
  #readHeads(bytes: Buffer): number {
    const room = Math.min(bytes.length, maxHeadBytes - this.#headBytes)
    const before = this.#partialHead.length
    const text = this.#partialHead + bytes.toString('latin1', 0, room)
    this.#headBytes += room
    let from = 0
    while (!this.head && !this.over) {
      const end = text.indexOf('\r\n\r\n', from === 0 ? Math.max(0, before - 3) : from)
      if (end < 0) {
        this.#keepPartial(text.slice(from), before - from, room < bytes.length)
        break
      }
      this.#takeHead(readHead(text.slice(from, end + 2)))
      from = end + 4
    }
    return from - before
  }

  #keepPartial(text: string, fresh: number, isFull: boolean) {
    this.#partialHead = text
    if (!canBeHead(text, fresh)) this.#fail('the answer is not HTTP')
    else if (isFull) this.#fail('the headers of the answer are too long')
  }

  #takeHead(head: Head | undefined) {
    if (!head) return this.#fail('the answer is not HTTP')
    if (head.status === 101) return this.#fail('the answer switches to another protocol')
    if (head.status < 200) return
    this.head = head
    if (head.framing === 'untrusted') this.#end(false)
    else if (head.framing === 'chunks') this.#chunks = new ChunkedBody((...part) => this.#keep(...part))
    else this.#left = head.framing === 'until_close' ? Number.POSITIVE_INFINITY : head.framing
  }

  #readBody(bytes: Buffer, from: number) {
    const to = Math.min(bytes.length, from + this.#maxRead - this.#readBytes)
    const at = this.#chunks ? this.#chunks.read(bytes, from, to) : this.#readPlain(bytes, from, to)
    this.#readBytes += at - from
    this.complete = this.#chunks ? this.#chunks.state === 'ended' : this.#left === 0
    if (this.complete) this.#end(at === bytes.length)
    else if (this.#chunks?.state === 'broken' || this.#readBytes >= this.#maxRead) this.#end(false)
  }

  #readPlain(bytes: Buffer, from: number, to: number): number {
    const end = Math.min(to, from + this.#left)
    this.#left -= end - from
    this.#keep(bytes, from, end)
    return end
  }

  #keep(bytes: Buffer, from: number, to: number) {
    const part = bytes.subarray(from, Math.min(to, from + this.#maxKept - this.#keptBytes))
    if (part.length === 0) return
    this.#kept.push(Buffer.from(part)) // the socket reuses its memory
    this.#keptBytes += part.length
  }

  #fail(fault: string) {
    this.fault = fault
    this.over = true
  }

  #end(isClean: boolean) {
    this.over = true
    this.reusable = isClean && this.head?.isKept === true && this.head.keptMs > 0
  }
}
