import { setTimeout as sleep } from 'node:timers/promises'

const gapMs = 10

// Says the same few words again and again, but seldom: what is wanted within a moment is said together, one saying at a
// time. Nobody waits for it, and one that fails is lost.
export function spaced<Word extends string>(say: (words: readonly Word[]) => Promise<void> | void) {
  const wanted = new Set<Word>()
  let isAtIt = false

  async function sayAll() {
    isAtIt = true
    while (wanted.size > 0) {
      await sleep(gapMs, undefined, { ref: false })
      const words = [...wanted]
      wanted.clear()
      try {
        await say(words)
      } catch {}
    }
    isAtIt = false
  }

  return (word: Word) => {
    wanted.add(word)
    if (!isAtIt) void sayAll()
  }
}
