// A small generator (mulberry32): the steps of a walk are drawn from the seed that is told when it fails.
export function createDice(seed: number) {
  let state = seed
  const dice = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(all: readonly T[]) => all[Math.floor(dice() * all.length)] as T
  return { dice, pick }
}
