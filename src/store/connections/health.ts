const checkMs = 250
const maxSilentChecks = 6
const lateMs = 2 * checkMs

// Detects that the database hangs: connections are open or can be opened, and no statement returns. Then statements fail
// immediately instead of waiting in vain. A server that refuses connections does not count as hanging: it may be back soon.
export type Health = {
  begin(): void // a statement waits for its result
  end(isAnswered: boolean): void
  isHanging(): boolean
  stop(): void
}

// One slow statement does not prove anything. So after six checks in a row without a result, `isSilent` probes the
// database with a separate connection. Silence is counted in checks and not by the clock: after a pause of this process,
// its timers fire before the results that have arrived meanwhile are read.
export function watchHealth(isSilent: () => Promise<boolean>): Health {
  let waiting = 0
  let silentChecks = 0
  let hanging = false
  let probing = false
  let wasPaused = false // this process was paused since the probe began
  let checkedAt = performance.now()

  const isLate = () => performance.now() - checkedAt > lateMs

  async function check() {
    if (isLate()) wasPaused = true
    checkedAt = performance.now()
    silentChecks = waiting > 0 ? silentChecks + 1 : 0
    if (probing || !(hanging || silentChecks > maxSilentChecks)) return
    probing = true
    wasPaused = false
    const silent = await isSilent().catch(() => false) // a probe that fails proves nothing
    probing = false
    if (silent && (wasPaused || isLate())) return // the next check probes again
    hanging = silent && (hanging || silentChecks > maxSilentChecks)
  }

  const timer = setInterval(() => void check(), checkMs)
  timer.unref()
  return {
    begin() {
      if (waiting++ === 0) silentChecks = 0
    },
    end(isAnswered) {
      waiting--
      if (!isAnswered) return
      silentChecks = 0
      hanging = false
    },
    isHanging: () => hanging,
    stop: () => clearInterval(timer),
  }
}
