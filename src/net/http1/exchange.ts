import type { HttpOutcome } from '../../core/notification/delivery.ts'
import { tryDeadlineMs } from '../../core/notification/schedule.ts'
import { Trouble, troubleOf } from '../trouble.ts'
import { ResponseReader } from './responseReader.ts'

// The headers have decided. A body that has not ended a second later tells us nothing more and would keep the slot
// of a notification that might be answered.
const bodyMs = 1000

export type Wishes = { mostKept?: number; mayLeave?(): boolean }

// One request and what came of it. It has no timer of its own: whoever holds it calls `late` when it is due.
export class Exchange {
  readonly request: Buffer
  readonly mayLeave: Wishes['mayLeave']
  readonly #begun = performance.now()
  readonly #reader: ResponseReader
  readonly #wantsBody: boolean
  readonly #ended: (answer: HttpOutcome) => void
  #address: string | null = null
  #firstByteMs: number | null = null
  #isAnswered = false
  dueAt = this.#begun + tryDeadlineMs
  over = false

  constructor(request: Buffer, ended: (answer: HttpOutcome) => void, wishes: Wishes = {}) {
    const { mostKept, mayLeave } = wishes
    this.request = request
    this.mayLeave = mayLeave
    this.#ended = ended
    this.#reader = new ResponseReader(mostKept)
    this.#wantsBody = mostKept !== undefined
  }

  // The next thing is the write.
  leave(address: string) {
    this.#address = address
    this.#firstByteMs = this.#elapsedMs()
  }

  hear(bytes: Buffer) {
    const reader = this.#reader
    reader.read(bytes)
    if (reader.fault) this.fail(new Trouble('bad_answer', reader.fault))
    else if (reader.over) this.#end(null, '')
    else if (reader.head && !this.#isAnswered) {
      this.#isAnswered = true
      if (this.#wantsBody) return
      this.dueAt = Math.min(this.dueAt, performance.now() + bodyMs)
    }
  }

  // By the other side, or by the network between.
  closed(error?: Error) {
    this.fail(troubleOf(error, this.#reader.heard))
  }

  late() {
    this.fail(new Trouble('timeout', this.#lateWords()))
  }

  // A body that breaks off after its headers is no failure.
  fail({ failure, message }: Trouble) {
    if (this.#reader.head) this.#end(null, '')
    else this.#end(failure, message)
  }

  // For how long the connection may wait for another request; 0 when it is of no more use.
  keptMs(): number {
    const { head, reusable } = this.#reader
    return head && reusable ? head.keptMs : 0
  }

  #end(failure: HttpOutcome['failure'], words: string) {
    if (this.over) return
    this.over = true
    const { head } = this.#reader
    this.#ended({
      status: head?.status ?? null,
      retry_after: head?.retryAfter ?? null,
      body: head ? this.#reader.body() : null,
      address: this.#address,
      failure,
      words,
      ms: this.#elapsedMs(),
      first_byte_ms: this.#firstByteMs,
    })
  }

  #elapsedMs() {
    return Math.round(performance.now() - this.#begun)
  }

  #lateWords() {
    if (this.#firstByteMs === null) return `no connection in ${tryDeadlineMs / 1000} s`
    const within = `in ${tryDeadlineMs / 1000} s`
    return this.#reader.heard ? `the answer did not begin properly ${within}` : `no answer ${within}`
  }
}
