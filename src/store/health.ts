const lookMs = 250
const silentMs = 1500 // so long has nobody been answered who waits

// Whether the database hangs: connections stand, or can be made, and no answer comes. Somebody who asks then is told at
// once, because the wait would be in vain; a server that refuses connections answers, and may be back in a moment.
export type Health = {
  begin(): void // somebody waits for an answer
  end(isAnswered: boolean): void
  isHanging(): boolean
  stop(): void
}

// One slow statement is no sign of it, so before it is believed somebody knocks: `isSilent` tells whether nobody opened.
export function watchHealth(isSilent: () => Promise<boolean>): Health {
  let waiting = 0
  let heardAt = performance.now() // or the moment since which somebody waits
  let hanging = false
  let knocking = false

  async function look() {
    const isSuspect = waiting > 0 && performance.now() - heardAt >= silentMs
    if (knocking || !(hanging || isSuspect)) return
    knocking = true
    const silent = await isSilent()
    const wasHeard = !hanging && performance.now() - heardAt < silentMs
    hanging = silent && !wasHeard
    knocking = false
  }

  const timer = setInterval(() => void look(), lookMs)
  timer.unref()
  return {
    begin() {
      if (waiting++ === 0) heardAt = performance.now()
    },
    end(isAnswered) {
      waiting--
      if (!isAnswered) return
      heardAt = performance.now()
      hanging = false
    },
    isHanging: () => hanging,
    stop: () => clearInterval(timer),
  }
}
