import type { Mode } from '../mode.ts'

// How often the addresses with one path were acknowledged: in the last 24 hours, and before.
export type PathCount = { path: string; paid: number; acknowledged: number; earlier: number }

// All paths of one merchant, in one mode, at one origin.
export type PathGroup = { merchant_id: string; mode: Mode; origin: string }

export const pathsOfGroup = 16 // more are not counted: a customer can name any number that the shop's server answers

// The path acknowledged most. Notifications of paid payments outrank the others: a customer has to pay for each, while a
// cancelled payment costs nothing. A shop without a sale for a day keeps the path that it had before.
export function rankPaths(counts: readonly PathCount[]): PathCount[] {
  return counts.toSorted(
    (a, b) =>
      b.paid - a.paid ||
      b.acknowledged - a.acknowledged ||
      b.earlier - a.earlier ||
      (a.path < b.path ? -1 : 1),
  )
}
