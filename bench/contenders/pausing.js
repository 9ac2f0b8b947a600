// Stops a node and lets it go on, at random moments that a seed repeats.
import { setTimeout as sleep } from 'node:timers/promises'

const stoppedMs = { least: 200, most: 4000 }
const goingMs = { least: 100, most: 1500 }

// Until the work is done; it goes on at the end.
export async function pauseDuring(node, seed, work) {
  const random = numbersFrom(seed)
  const between = ({ least, most }) => least + random() * (most - least)
  const over = new AbortController()
  const rest = ms => sleep(ms, undefined, { signal: over.signal }).catch(() => {})
  let stops = 0
  const pausing = async () => {
    while (!over.signal.aborted) {
      await rest(between(goingMs))
      if (over.signal.aborted) return
      node.pause()
      stops++
      await rest(between(stoppedMs))
      node.goOn()
    }
  }
  const paused = pausing()
  try {
    return { done: await work, stops }
  } finally {
    over.abort()
    await paused
  }
}

// Marsaglia's xorshift: the same numbers from 0 to 1 for the same seed.
function numbersFrom(seed) {
  let state = (seed * 2_654_435_761) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
