import type { Dispatcher } from 'undici'
import type { Answer } from '../core/delivery.ts'
import type { Line } from './lines.ts'
import { Trouble, troubleOf } from './trouble.ts'

const totalMs = 10_000
// For one of the few connections to an origin. Who waits longer would begin to speak without the time to hear the end.
const waitMs = 5000
// The headers have decided. A body that has not ended a second later tells us nothing more and would keep the slot
// of a notification that might be answered.
const bodyMs = 1000
const maxReadBytes = 64 * 1024
const maxKeptBytes = 4 * 1024
const maxRetryAfterLength = 100

// One request and what came of it. The HTTP library calls the methods that begin with `on`; `ended` is called once,
// with whether the connection can be used again.
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #begun = performance.now()
  readonly #ended: (answer: Answer, reusable: boolean) => void
  readonly #answer: Answer = {
    status: null,
    retry_after: null,
    body: null,
    address: null,
    failure: null,
    words: '',
    ms: 0,
    first_byte_ms: null,
  }
  #timer: NodeJS.Timeout | undefined
  #waiting = false
  #chunks: Buffer[] = []
  #bytes = 0
  #line: Line | undefined
  over = false

  constructor(ended: (answer: Answer, reusable: boolean) => void) {
    this.#ended = ended
    this.#failAfter(totalMs)
  }

  wait() {
    this.#waiting = true
    this.#failAfter(waitMs)
  }

  begin(line: Line, request: Dispatcher.DispatchOptions) {
    this.#line = line
    line.heard = false
    if (this.#waiting) this.#failAfter(totalMs - this.#elapsedMs())
    line.client.dispatch(request, this)
  }

  // The connection is there and the next thing is the write. A line has one connection and one request at a time, so
  // the address that it has noted is the one that this request goes to.
  onRequestStart() {
    if (!this.#line) return
    this.#line.asked = true
    this.#answer.address = this.#line.address
    this.#answer.first_byte_ms = this.#elapsedMs()
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>) {
    if (this.over || status < 200) return // informational: the answer is still to come
    this.#answer.status = status
    const [retryAfter] = [headers['retry-after']].flat()
    this.#answer.retry_after = retryAfter?.slice(0, maxRetryAfterLength) ?? null
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(false), Math.min(bodyMs, totalMs - this.#elapsedMs()))
  }

  onResponseData(_: unknown, chunk: Buffer) {
    if (this.#bytes < maxKeptBytes) this.#chunks.push(chunk.subarray(0, maxKeptBytes - this.#bytes))
    this.#bytes += chunk.length
    if (this.#bytes > maxReadBytes) this.#end(false)
  }

  onResponseEnd() {
    this.#end(true)
  }

  onResponseError(_: unknown, error: Error) {
    this.fail(troubleOf(error, this.#line?.heard ?? false))
  }

  // A body that breaks off after its headers is no failure.
  fail({ failure, message }: Trouble) {
    if (this.#answer.status === null && !this.over) Object.assign(this.#answer, { failure, words: message })
    this.#end(false)
  }

  #end(reusable: boolean) {
    if (this.over) return
    this.over = true
    clearTimeout(this.#timer)
    // Copied, as the chunks are small windows on large buffers of the socket.
    if (this.#answer.status !== null) this.#answer.body = Buffer.concat(this.#chunks)
    this.#answer.ms = this.#elapsedMs()
    this.#ended(this.#answer, reusable)
  }

  #failAfter(ms: number) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.fail(new Trouble('timeout', this.#lateWords())), ms)
  }

  #elapsedMs() {
    return Math.round(performance.now() - this.#begun)
  }

  #lateWords() {
    if (!this.#line) return 'no free connection in 5 s'
    if (this.#answer.first_byte_ms === null) return 'no connection in 10 s'
    return this.#line?.heard ? 'the answer did not begin properly in 10 s' : 'no answer in 10 s'
  }
}
