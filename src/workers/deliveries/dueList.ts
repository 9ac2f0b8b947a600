import { type Candidate, deliveryKey, mostInFlight } from '../../core/notification/admit.ts'
import type { Db } from '../../store/db.ts'
import { lookForDue } from '../../store/notifications/deliveries.ts'

const lookMs = 200 // so that what another node has committed leaves within a quarter of a second
const lookAtMost = 500
const commitMs = 250 // from the moment that a change is said to have happened until others can see it

export type DueList = ReturnType<typeof createDueList>

// What a worker sees of the deliveries that are due and have not started yet: the oldest, and the newest. Somebody who
// has just committed one says so; all others are found by looking again and again.
export function createDueList(db: Db) {
  let due: Candidate[] = []
  let news = new Set<Candidate>()
  let lastSeen: Candidate[] = [] // behind these there was more than we looked at
  let lookedAt = -Infinity
  let newestAt: Date | undefined // when we last looked at the newest
  let mustLook = true
  let hasNews = false

  const isTime = () => mustLook || performance.now() - lookedAt >= lookMs
  const isRunningOut = () => lastSeen.length > 0 && due.length < mostInFlight

  async function look(now: Date) {
    const isAround = isTime()
    const isNews = hasNews
    hasNews = false
    if (isAround) await lookAround(now)
    else if (isRunningOut()) await lookFurther(now)
    if (isAround ? lastSeen.length > 0 : isNews) await lookAtNews(now)
  }

  async function lookAround(now: Date) {
    mustLook = false
    lookedAt = performance.now()
    const [first, again] = await Promise.all([
      lookForDue(db, false, now, lookAtMost),
      lookForDue(db, true, now, lookAtMost),
    ])
    const before = due.filter(one => news.has(one))
    lastSeen = [first, again].flatMap(lastOfMany)
    due = [...first, ...again]
    news = new Set()
    if (lastSeen.length > 0)
      addNews(before) // a crowd may hide them now
    else newestAt = now
  }

  async function lookFurther(now: Date) {
    const seen = lastSeen
    lastSeen = []
    for (const { retry, due_at } of seen) {
      const more = await lookForDue(db, retry, now, lookAtMost, due_at)
      if (more.length < lookAtMost) mustLook = true // there may be others of the same moment
      lastSeen.push(...lastOfMany(more))
      due.push(...more)
    }
  }

  // Few, and never hidden behind a crowd of those that are due for longer.
  async function lookAtNews(now: Date) {
    const since = newestAt ?? now
    newestAt = now
    addNews(await lookForDue(db, false, now, lookAtMost, new Date(since.getTime() - commitMs)))
  }

  function addNews(candidates: readonly Candidate[]) {
    const known = new Set(due.map(deliveryKey))
    for (const one of candidates) {
      if (known.has(deliveryKey(one))) continue
      due.push(one)
      news.add(one)
    }
  }

  return {
    look,
    due: () => due,
    replace: (those: Candidate[]) => void (due = those),
    hasMore: () => lastSeen.length > 0,
    isNew: (candidate: Candidate) => news.has(candidate), // so that it hides nobody
    wantsLook: () => isTime() || isRunningOut() || hasNews,
    mustLook: () => mustLook,
    lookAgain: () => void (mustLook = true),
    expectNew: () => void (hasNews = true),
    restMs: () => (mustLook || hasNews ? 0 : Math.max(1, lookedAt + lookMs - performance.now())),
  }
}

const lastOfMany = (seen: readonly Candidate[]) => (seen.length < lookAtMost ? [] : seen.slice(-1))
