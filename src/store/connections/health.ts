const lookMs = 250
const silentLooks = 6 // at so many in a row was nobody answered who waits
const lateMs = 2 * lookMs

// Whether the database hangs: connections stand, or can be made, and no answer comes. Somebody who asks then is told at
// once, because the wait would be in vain; a server that refuses connections answers, and may be back in a moment.
export type Health = {
  begin(): void // somebody waits for an answer
  end(isAnswered: boolean): void
  isHanging(): boolean
  stop(): void
}

// One slow statement is no sign of it, so before it is believed somebody callbacks: `isSilent` tells whether nobody opened.
// Silence is counted in looks and not on a clock: a process that was stopped, or that its machine gave no time, reads the
// answers that lie there after its timers.
export function watchHealth(isSilent: () => Promise<boolean>): Health {
  let waiting = 0
  let silence = 0 // in looks, while somebody waits
  let hanging = false
  let knocking = false
  let stoodStill = false
  let lookedAt = performance.now()

  const isLate = () => performance.now() - lookedAt > lateMs

  async function look() {
    if (isLate()) stoodStill = true
    lookedAt = performance.now()
    silence = waiting > 0 ? silence + 1 : 0
    if (knocking || !(hanging || silence > silentLooks)) return
    knocking = true
    stoodStill = false
    const silent = await isSilent()
    knocking = false
    if (silent && (stoodStill || isLate())) return // the next look callbacks again
    hanging = silent && (hanging || silence > silentLooks)
  }

  const timer = setInterval(() => void look(), lookMs)
  timer.unref()
  return {
    begin() {
      if (waiting++ === 0) silence = 0
    },
    end(isAnswered) {
      waiting--
      if (!isAnswered) return
      silence = 0
      hanging = false
    },
    isHanging: () => hanging,
    stop: () => clearInterval(timer),
  }
}
