// Who of the nodes is there, as one of them sees it: each holds a lock on a connection of its own, which ends with the
// process. A process that stands still keeps its lock, one that is killed loses it at once.

export const beatMs = 500 // between two looks
const goneAfterMs = 2000 // of looks that do not find it; one whose connection was cut has it again by then
const awayMs = 2000 // between two looks: one that was cut off
const othersComeBackMs = 10_000 // who was cut off gives all others as long: they may have been, too
export const sureMs = 1500 // after a look that found us: nobody has called us gone by then

// By the number of a node: since when it is missing; null while it is there.
export type Roll = { missing: ReadonlyMap<number, number | null>; lookedAt: number }

export const emptyRoll: Roll = { missing: new Map(), lookedAt: -Infinity }

// `isAnew`: it is the first look by this connection. A look that is only late says what it says: who was missing before
// and is still missing has had its time.
export type Sight = { present: readonly number[]; leftBehind?: readonly number[]; isAnew?: boolean }

// Those who are there and those who left something behind, at a look; and who has been missing for so long that it is
// dead. Whoever was cut off for a while knows nothing about the time between.
export function look(
  roll: Roll,
  { present, leftBehind = [], isAnew = false }: Sight,
  now: number,
): { roll: Roll; gone: number[] } {
  const isFirst = roll.lookedAt === -Infinity
  const wasAway = isAnew && !isFirst && now - roll.lookedAt > awayMs
  const from = wasAway ? now + othersComeBackMs - goneAfterMs : now
  const missing = new Map<number, number | null>()
  for (const number of [...roll.missing.keys(), ...leftBehind])
    missing.set(number, wasAway ? from : (roll.missing.get(number) ?? from))
  for (const number of present) missing.set(number, null)
  const gone = [...missing].filter(([, since]) => since !== null && now - since >= goneAfterMs)
  return { roll: { missing, lookedAt: now }, gone: gone.map(([number]) => number) }
}

// What it left behind is tidied up.
export function forget({ missing, lookedAt }: Roll, number: number): Roll {
  const others = new Map(missing)
  others.delete(number)
  return { missing: others, lookedAt }
}

// A lease whose token has the number of a node ends with that node; any other has only its time.
export const tokenOf = (number: number, token: string) => `n${number}-${token}`
export const nodeOfToken = (token: string): number | undefined => {
  const [, digits] = /^n(\d{1,10})-/.exec(token) ?? []
  return digits === undefined ? undefined : Number(digits)
}
