import { type Candidate, deliveryKey, mostInFlight } from '../../core/notification/admit.ts'
import { alwaysSearching, type SearchGate } from '../../runtime/dueWork.ts'
import type { Db } from '../../store/db.ts'
import { findDueDeliveries } from '../../store/notifications/deliveries.ts'

const pollMs = 200 // so that a delivery that another node has committed is sent within a quarter of a second
const fullPollMs = 2 * pollMs // at most between two full polls, however many new deliveries are committed meanwhile
const pollLimit = 500
const commitMs = 250 // from the time in a row until its commit is visible to others

// The deliveries that are due and have not started yet, as the last polls of the table returned them. The list is in one
// of two states:
//
// - whole: the last full poll returned everything that was due. No delivery is hidden.
// - cut: more was due than a poll returns. `cutAt` has the last row that was read, of first tries and of retries, and the
//   next poll continues behind it when the list runs out. A delivery that is committed now is at the far end of the
//   backlog, so the newest rows are polled separately: they do not wait for the backlog.
//
// There are three kinds of poll, each a transition: a full poll replaces the list, every 200 ms or on request, and sets
// the state; a further poll extends a cut list; a poll of the newest adds the rows of the last moments, which are marked
// as new until the next full poll.
export class DueList {
  due: Candidate[] = []
  readonly #db: Db
  readonly #assignLanes: (candidates: readonly Candidate[]) => Promise<void>
  readonly #gate: SearchGate
  #newest = new Set<Candidate>() // the part of the list that polls of the newest have added
  #cutAt: Candidate[] = [] // empty: whole
  #isFullPollRequested = true
  #isNewestPollRequested = false
  #fullPollAt = -Infinity
  #newestPollAt: Date | undefined

  constructor(
    db: Db,
    assignLanes: (candidates: readonly Candidate[]) => Promise<void>,
    gate: SearchGate = alwaysSearching,
  ) {
    this.#db = db
    this.#gate = gate
    this.#assignLanes = assignLanes
  }

  isCut = () => this.#cutAt.length > 0
  isNew = (candidate: Candidate) => this.#newest.has(candidate)
  requestFullPoll = () => void (this.#isFullPollRequested = true)
  requestNewestPoll = () => void (this.#isNewestPollRequested = true)
  isFullPollRequested = () => this.#isFullPollRequested
  needsPoll = () => this.#isFullPollDue() || this.#isRunningOut() || this.#isNewestPollRequested

  // How long the worker may rest.
  restMs = () => {
    if (this.#isFullPollRequested || this.#isNewestPollRequested) return 0
    const untilPoll = this.#fullPollAt + pollMs - performance.now()
    return untilPoll > 0 ? untilPoll : this.#isPollUseful() ? 1 : pollMs
  }

  // Newly committed deliveries start before all others: then a full poll waits for the next step, but not for long.
  async poll(now: Date): Promise<'newest' | 'all'> {
    const isNewestRequested = this.#isNewestPollRequested
    this.#isNewestPollRequested = false
    if (isNewestRequested && performance.now() - this.#fullPollAt < fullPollMs) {
      await this.#pollNewest(now)
      return 'newest'
    }
    const isFull = this.#isFullPollDue()
    this.#isFullPollRequested = false
    if (isFull) await this.#pollAll(now)
    else if (this.#isRunningOut()) await this.#pollFurther(now)
    if (isFull ? this.isCut() : isNewestRequested) await this.#pollNewest(now)
    return 'all'
  }

  #isFullPollDue() {
    if (this.#isFullPollRequested) return true
    return performance.now() - this.#fullPollAt >= pollMs && this.#isPollUseful()
  }

  // A poll also removes deliveries from the list that another node has taken.
  #isPollUseful() {
    return this.due.length > 0 || this.isCut() || this.#gate.mayBeDue('deliveries')
  }

  #isRunningOut() {
    return this.isCut() && this.due.length < mostInFlight
  }

  async #pollAll(now: Date) {
    this.#fullPollAt = performance.now()
    this.#gate.begins('deliveries')
    const [firstTries, retries] = await Promise.all([this.#find(false, now), this.#find(true, now)]).catch(
      (error: unknown) => {
        this.#gate.reopen('deliveries')
        throw error
      },
    )
    const newest = this.due.filter(this.isNew)
    this.#cutAt = [firstTries, retries].flatMap(lastIfCut)
    this.due = [...firstTries, ...retries]
    this.#newest = new Set()
    if (this.isCut())
      this.#addNewest(newest) // the backlog may hide them from this poll
    else this.#newestPollAt = now
  }

  async #pollFurther(now: Date) {
    const from = this.#cutAt
    this.#cutAt = []
    for (const { retry, due_at } of from) {
      const more = await this.#find(retry, now, due_at)
      if (more.length < pollLimit) this.#isFullPollRequested = true // rows with the same time may be left out
      this.#cutAt.push(...lastIfCut(more))
      this.due.push(...more)
    }
  }

  async #pollNewest(now: Date) {
    const since = this.#newestPollAt ?? now
    this.#newestPollAt = now
    this.#addNewest(await this.#find(false, now, new Date(since.getTime() - commitMs)))
  }

  #addNewest(candidates: readonly Candidate[]) {
    const listed = new Set(this.due.map(deliveryKey))
    for (const candidate of candidates) {
      if (listed.has(deliveryKey(candidate))) continue
      this.due.push(candidate)
      this.#newest.add(candidate)
    }
  }

  // Each delivery gets the lane that it belongs to now, which may differ from the stored one.
  async #find(retry: boolean, now: Date, after?: string | Date): Promise<Candidate[]> {
    const candidates = await findDueDeliveries(this.#db, retry, now, pollLimit, after)
    await this.#assignLanes(candidates)
    return candidates
  }
}

const lastIfCut = (polled: readonly Candidate[]) => (polled.length < pollLimit ? [] : polled.slice(-1))
