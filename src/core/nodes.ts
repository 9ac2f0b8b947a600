// Which nodes are alive, as one node sees it. Each node holds an advisory lock on a connection of its own. The lock ends
// with the process: a killed node loses it at once, a paused one keeps it. Every node checks again and again who holds a
// lock. A node that was missing for two seconds is dead, and the others end its leases.

export const presenceCheckMs = 800
const deadAfterMs = 2000 // a node whose connection was cut has its lock again by then
const cutOffMs = 2000 // between two checks: this node itself was cut off from the database
const reconnectMs = 10_000 // for all other nodes after that: they may have been cut off, too
export const aliveForMs = 1500 // since the start of a check that found our lock: no node has declared us dead by then

// By the number of a node: since when its lock is missing; null while it holds it.
export type Presence = { missingSince: ReadonlyMap<number, number | null>; checkedAt: number }

export const noPresence: Presence = { missingSince: new Map(), checkedAt: -Infinity }

type PresenceCheck = {
  present: readonly number[] // nodes that hold their lock
  leaseHolders?: readonly number[] // nodes that have leases; they count from now on
  isNewConnection?: boolean // the first check on this connection
}

// Applies a check, and returns the nodes that are dead. After it was cut off, a node has missed what happened meanwhile:
// all missing nodes get the time to reconnect. A check that is only late, on the same connection, counts as it is.
export function updatePresence(
  { missingSince, checkedAt }: Presence,
  { present, leaseHolders = [], isNewConnection = false }: PresenceCheck,
  now: number,
): { presence: Presence; dead: number[] } {
  const isFirst = checkedAt === -Infinity
  const wasCutOff = isNewConnection && !isFirst && now - checkedAt > cutOffMs
  const since = wasCutOff ? now + reconnectMs - deadAfterMs : now
  const updated = new Map<number, number | null>()
  for (const number of [...missingSince.keys(), ...leaseHolders])
    updated.set(number, wasCutOff ? since : (missingSince.get(number) ?? since))
  for (const number of present) updated.set(number, null)
  const dead = [...updated].filter(([, missing]) => missing !== null && now - missing >= deadAfterMs)
  return {
    presence: { missingSince: updated, checkedAt: now },
    dead: dead.map(([number]) => number),
  }
}

// A dead node whose leases were ended.
export function forgetNode({ missingSince, checkedAt }: Presence, number: number): Presence {
  const others = new Map(missingSince)
  others.delete(number)
  return { missingSince: others, checkedAt }
}
