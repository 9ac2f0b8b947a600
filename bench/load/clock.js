// The clock of one round, on the side that loads: warm up, then measure. The parent is notified of the moments at
// which measuring begins and ends, so that it reads the CPU counters for exactly that time.
import { summary } from '../report/figures.js'

const maxMeasured = 1_000_000

export function startClock({ warmMs, measureMs }) {
  const latenciesMs = new Float64Array(maxMeasured)
  const from = performance.now() + warmMs
  let until = from + measureMs
  let count = 0
  let cpuAtStart
  let cpuUsedMs = 0
  let ended
  const beginning = setTimeout(() => {
    cpuAtStart = process.cpuUsage()
    process.send?.({ measuring: true })
  }, warmMs)
  const stop = () => {
    clearTimeout(ending)
    if (performance.now() < until) until = performance.now()
    const { user, system } = process.cpuUsage(cpuAtStart)
    cpuUsedMs = (user + system) / 1000
    process.send?.({ measured: true })
    ended()
  }
  const ending = setTimeout(stop, warmMs + measureMs)
  const over = new Promise(resolve => {
    ended = resolve
  })
  return {
    stop, // early: the work has run out
    // The round is over, perhaps by an error: nothing more is sent to the parent, which may begin another.
    cancel() {
      clearTimeout(beginning)
      clearTimeout(ending)
    },
    isOver: () => performance.now() >= until,
    record(startedAt) {
      const now = performance.now()
      if (now >= from && now < until && count < maxMeasured) latenciesMs[count++] = now - startedAt
    },
    async result() {
      await over
      return { ...summary(latenciesMs.subarray(0, count), until - from), cpuMs: cpuUsedMs }
    },
  }
}

// Takes jobs from the parent, one at a time.
export function serveJobs(run) {
  process.on('message', job => {
    run(job).then(
      result => process.send?.({ result }),
      error => process.send?.({ failed: error.message }),
    )
  })
  process.on('disconnect', () => process.exit()) // the parent is gone
}
