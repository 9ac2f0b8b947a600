import { type Candidate, deliveryKey, mostInFlight } from '../../core/notification/admit.ts'
import type { Db } from '../../store/db.ts'
import { lookForDue } from '../../store/notifications/deliveries.ts'

const lookMs = 200 // so that what another node has committed leaves within a quarter of a second
const mostMs = 2 * lookMs // between two looks at everything, however much comes meanwhile
const lookAtMost = 500
const commitMs = 250 // from the moment that a change is said to have happened until others can see it

type Asked = [retry: boolean, now: Date, limit: number, after?: string | Date]
export type DueList = ReturnType<typeof createDueList>

// The deliveries that are due and have not started yet, as this process knows them. The table is the truth, and is looked
// at every 200 ms, or at once on a wish; the list is what the last looks saw. It is in one of two states:
//
// - whole: the last look saw everything that was due. Nothing is hidden.
// - cut: there was more than a look reads. `cutAt` remembers where the reading stopped, for first tries and for retries,
//   and it goes on from there when the list runs out. What is committed now stands at the far end of the crowd, so the
//   newest are looked for by themselves: they never wait for the crowd, and never hide anybody.
export function createDueList(db: Db, assign: (found: readonly Candidate[]) => Promise<void>) {
  let due: Candidate[] = []
  let fresh = new Set<Candidate>() // of those, found at the newest end
  let cutAt: Candidate[] = [] // empty: whole
  let wantsAll = true // before it is time to
  let wantsNew = false
  let lookedAt = -Infinity
  let newestAt: Date | undefined // when we last looked at the newest

  // Each is in the lane that it has now, and not in that of the time when it was stored.
  const lookFor = async (...asked: Asked): Promise<Candidate[]> => {
    const found = await lookForDue(db, ...asked)
    await assign(found)
    return found
  }

  const isCut = () => cutAt.length > 0
  const isTime = () => wantsAll || performance.now() - lookedAt >= lookMs
  const isRunningOut = () => isCut() && due.length < mostInFlight

  // What has just been committed leaves before anything else: then the others wait for the next look, but not for long.
  // Gives back what was looked at.
  async function look(now: Date): Promise<'new' | 'all'> {
    const isNew = wantsNew
    wantsNew = false
    if (isNew && performance.now() - lookedAt < mostMs) {
      await lookAtNewest(now)
      return 'new'
    }
    const isAll = isTime()
    wantsAll = false
    if (isAll) await lookAtAll(now)
    else if (isRunningOut()) await lookFurther(now)
    if (isAll ? isCut() : isNew) await lookAtNewest(now)
    return 'all'
  }

  async function lookAtAll(now: Date) {
    lookedAt = performance.now()
    const [first, again] = await Promise.all([
      lookFor(false, now, lookAtMost),
      lookFor(true, now, lookAtMost),
    ])
    const before = due.filter(one => fresh.has(one))
    cutAt = [first, again].flatMap(lastOfMany)
    due = [...first, ...again]
    fresh = new Set()
    if (isCut())
      addFresh(before) // a crowd may hide them now
    else newestAt = now
  }

  async function lookFurther(now: Date) {
    const from = cutAt
    cutAt = []
    for (const { retry, due_at } of from) {
      const more = await lookFor(retry, now, lookAtMost, due_at)
      if (more.length < lookAtMost) wantsAll = true // there may be others of the same moment
      cutAt.push(...lastOfMany(more))
      due.push(...more)
    }
  }

  async function lookAtNewest(now: Date) {
    const since = newestAt ?? now
    newestAt = now
    addFresh(await lookFor(false, now, lookAtMost, new Date(since.getTime() - commitMs)))
  }

  function addFresh(candidates: readonly Candidate[]) {
    const known = new Set(due.map(deliveryKey))
    for (const one of candidates) {
      if (known.has(deliveryKey(one))) continue
      due.push(one)
      fresh.add(one)
    }
  }

  return {
    look,
    due: () => due,
    replace: (those: Candidate[]) => void (due = those),
    hasMore: isCut,
    isFresh: (candidate: Candidate) => fresh.has(candidate),
    wantsLook: () => isTime() || isRunningOut() || wantsNew,
    mustLook: () => wantsAll,
    lookAgain: () => void (wantsAll = true),
    expectNew: () => void (wantsNew = true),
    restMs: () => (wantsAll || wantsNew ? 0 : Math.max(1, lookedAt + lookMs - performance.now())),
  }
}

const lastOfMany = (seen: readonly Candidate[]) => (seen.length < lookAtMost ? [] : seen.slice(-1))
