import { ChunkedBody } from './chunkedBody.ts'
import { type Head, mayBegin, readHead } from './responseHead.ts'

const maxHeadBytes = 16 * 1024 // with the interim answers before it
const maxReadBytes = 64 * 1024
const maxKeptBytes = 4 * 1024

const nothing = Buffer.alloc(0)

// Reads one answer, however it is cut into packets. Nothing here waits or throws. Once `head` is there, it is the
// answer, and no fault of the body takes it back.
export class ResponseReader {
  head: Head | undefined
  heard = false // a byte has come
  over = false
  reusable = false // the answer has ended where it should, and the connection is free for the next request
  fault = '' // why it is no answer
  #held = '' // of a head that is not whole
  #headBytes = 0
  #readBytes = 0
  #left = 0
  #kept: Buffer[] = []
  #keptBytes = 0
  #chunks: ChunkedBody | undefined
  readonly #mostKept: number
  readonly #mostRead: number

  constructor(mostKept = maxKeptBytes) {
    this.#mostKept = mostKept
    this.#mostRead = Math.max(maxReadBytes, mostKept)
  }

  read(bytes: Buffer) {
    this.heard = true
    const at = this.head ? 0 : this.#readHeads(bytes)
    if (this.head && !this.over) this.#readBody(bytes, at)
  }

  // Its beginning.
  body(): Buffer {
    const [first = nothing] = this.#kept
    return this.#kept.length > 1 ? Buffer.concat(this.#kept) : first
  }

  // Gives back where the body begins. Interim answers say nothing and are skipped.
  #readHeads(bytes: Buffer): number {
    const room = Math.min(bytes.length, maxHeadBytes - this.#headBytes)
    const before = this.#held.length
    const text = this.#held + bytes.toString('latin1', 0, room)
    this.#headBytes += room
    let from = 0
    while (!this.head && !this.over) {
      const end = text.indexOf('\r\n\r\n', from === 0 ? Math.max(0, before - 3) : from)
      if (end < 0) {
        this.#hold(text.slice(from), before - from, room < bytes.length)
        break
      }
      this.#takeHead(readHead(text.slice(from, end + 2)))
      from = end + 4
    }
    return from - before
  }

  #hold(text: string, fresh: number, isFull: boolean) {
    this.#held = text
    if (!mayBegin(text, fresh)) this.#fail('the answer is not HTTP')
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
    const to = Math.min(bytes.length, from + this.#mostRead - this.#readBytes)
    const at = this.#chunks ? this.#chunks.read(bytes, from, to) : this.#readPlain(bytes, from, to)
    this.#readBytes += at - from
    const hasEnded = this.#chunks ? this.#chunks.state === 'ended' : this.#left === 0
    if (hasEnded) this.#end(at === bytes.length)
    else if (this.#chunks?.state === 'broken' || this.#readBytes >= this.#mostRead) this.#end(false)
  }

  #readPlain(bytes: Buffer, from: number, to: number): number {
    const end = Math.min(to, from + this.#left)
    this.#left -= end - from
    this.#keep(bytes, from, end)
    return end
  }

  #keep(bytes: Buffer, from: number, to: number) {
    const part = bytes.subarray(from, Math.min(to, from + this.#mostKept - this.#keptBytes))
    if (part.length === 0) return
    this.#kept.push(Buffer.from(part)) // the memory is the socket's
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
