// Random numbers of the tests, drawn from one seed per run. The list of failures names the seed; TEST_SEED=<seed>
// repeats it. A test file starts at the beginning of the sequence, whichever files ran before it.
export const testSeed = Number((process.env.TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31))))

// The generator is mulberry32.
export function createRandom(seed: number) {
  let state = seed
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T
  return { random, pick }
}

export const { random, pick } = createRandom(testSeed)

// From 0 to below the limit.
export const randomBelow = (limit: number) => Math.floor(random() * limit)

// For a separate generator or process.
export const randomSeed = () => randomBelow(2 ** 31)

export const randomDigits = (count: number) => String(randomBelow(10 ** count)).padStart(count, '0')
