import type { Mode } from '../core/mode.ts'
import {
  addMinuteCounts,
  endedCounts,
  endedKey,
  type MinuteCounts,
  minuteOf,
  noMinuteCounts,
} from '../core/operator/minuteCounts.ts'
import type { StatusUpdate } from '../core/payment/change.ts'
import type { NewPayment } from '../core/payment/payment.ts'

export type CountedMinute = { minute: Date; started: Record<Mode, number>; counts: MinuteCounts }

// The counts of this node for the live view, in memory. A worker stores those of the minutes that have changed.
export type MinuteTally = ReturnType<typeof createMinuteTally>

export function createMinuteTally(clock: () => Date) {
  let minutes: CountedMinute[] = []
  const changed = new Set<number>()

  function current(): CountedMinute {
    const minute = minuteOf(clock())
    changed.add(minute.getTime())
    const found = minutes.find(one => one.minute.getTime() === minute.getTime())
    if (found) return found
    const made: CountedMinute = { minute, started: { test: 0, live: 0 }, counts: noMinuteCounts }
    minutes = [...minutes, made]
    return made
  }

  return {
    // `stored` are the rows under the invoice ids of `payments`: the new row, or the one that existed before.
    stored(payments: readonly NewPayment[], stored: readonly Pick<NewPayment, 'tx_reference'>[]) {
      const fresh = payments.filter((payment, at) => stored[at]?.tx_reference === payment.tx_reference)
      if (fresh.length === 0) return
      const { started } = current()
      for (const { mode } of fresh) started[mode] += 1
    },

    ended({ attempt, events }: Pick<StatusUpdate, 'attempt' | 'events'>) {
      if (!events.some(({ kind }) => kind === 'attempt_paid' || kind === 'attempt_failed')) return
      const { mode, provider_account: account, payment_method, created_at, updated_at } = attempt
      const seconds = (updated_at.getTime() - created_at.getTime()) / 1000
      const ended = endedCounts(attempt.state, attempt.reason ?? '', seconds)
      if (!ended) return
      const key = endedKey({ mode: mode === 'test' ? 'test' : 'live', account, payment_method })
      const minute = current()
      minute.counts = addMinuteCounts(minute.counts, { ...noMinuteCounts, ended: { [key]: ended } })
    },

    answered(requests: Pick<MinuteCounts, 'delays' | 'refused'>) {
      const minute = current()
      minute.counts = addMinuteCounts(minute.counts, { ...noMinuteCounts, ...requests })
    },

    // The minutes that have changed since the last call. If they cannot be stored, `changed` takes them back.
    take(): CountedMinute[] {
      const taken = minutes.filter(({ minute }) => changed.has(minute.getTime()))
      changed.clear()
      const now = minuteOf(clock()).getTime()
      minutes = minutes.filter(({ minute }) => minute.getTime() >= now)
      return taken
    },

    giveBack(taken: readonly CountedMinute[]) {
      const known = new Set(minutes.map(({ minute }) => minute.getTime()))
      minutes = [...taken.filter(({ minute }) => !known.has(minute.getTime())), ...minutes].slice(-maxKept)
      for (const { minute } of taken) changed.add(minute.getTime())
    },
  }
}

const maxKept = 60 // minutes, while the database does not take them
