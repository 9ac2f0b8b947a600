// Says to a person what keeps us.
export type Tell = (words: string) => void

const firstMs = 5000
const everyMs = 30_000

// Says the same at once, and again every half minute while it is still true.
export function nowAndThen(tell: Tell): Tell {
  let saidAt = Number.NEGATIVE_INFINITY
  return words => {
    if (performance.now() - saidAt < everyMs) return
    saidAt = performance.now()
    tell(words)
  }
}

// Says of work that takes long for how long it has been under way.
export async function sayingSo<T>(tell: Tell, words: () => string, work: Promise<T>): Promise<T> {
  const started = performance.now()
  const say = () => {
    tell(`${words()}, for ${Math.round((performance.now() - started) / 1000)} seconds now.`)
    timer = setTimeout(say, everyMs)
  }
  let timer = setTimeout(say, firstMs)
  return work.finally(() => clearTimeout(timer))
}
