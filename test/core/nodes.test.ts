import { expect, test } from 'vitest'
import { forgetNode, noPresence, type Presence, updatePresence } from '../../src/core/nodes.ts'

// What is seen at each moment, and who is called dead then.
type Step = readonly [at: number, present: number[], leaseHolders?: number[], isNewConnection?: boolean]
function watch(steps: readonly Step[]) {
  let presence: Presence = noPresence
  return steps.map(([at, present, leaseHolders, isNewConnection]) => {
    const updated = updatePresence(presence, { present, leaseHolders, isNewConnection }, at)
    presence = updated.presence
    for (const number of updated.dead) presence = forgetNode(presence, number)
    return updated.dead
  })
}

for (const [what, steps, gone] of [
  [
    'all are there',
    [
      [0, [1, 2]],
      [1000, [1, 2]],
      [2000, [1, 2]],
    ],
    [[], [], []],
  ],
  [
    'one is killed: it is gone after looks of two seconds, and once',
    [
      [0, [1, 2]],
      [1000, [1]],
      [2000, [1]],
      [2999, [1]],
      [3000, [1]],
      [4000, [1]],
    ],
    [[], [], [], [], [2], []],
  ],
  [
    'one whose connection was cut is there again in time',
    [
      [0, [1, 2]],
      [1000, [1]],
      [2000, [1]],
      [2900, [1, 2]],
      [4000, [1]],
      [5000, [1]],
      [6000, [1]],
    ],
    [[], [], [], [], [], [], [2]],
  ],
  [
    'one that left leases behind before anybody looked',
    [
      [0, [1], [7]],
      [1000, [1]],
      [1999, [1]],
      [2000, [1]],
    ],
    [[], [], [], [7]],
  ],
  [
    'one that has leases and is there',
    [
      [0, [1, 7], [7]],
      [1000, [1, 7]],
      [3000, [1, 7]],
    ],
    [[], [], []],
  ],
  [
    'who looks late has the same connection as before: what was missing and is, is gone',
    [
      [0, [1], [7]],
      [3500, [1]],
    ],
    [[], [7]],
  ],
  [
    'who looks late gives one that was there the same two seconds',
    [
      [0, [1, 2]],
      [5000, [1]],
      [6999, [1]],
      [7000, [1]],
    ],
    [[], [], [], [2]],
  ],
  [
    'who was cut off for a moment goes on counting',
    [
      [0, [1, 2]],
      [1000, [1]],
      [1500, [1], [], true],
      [3000, [1]],
    ],
    [[], [], [], [2]],
  ],
  [
    'who was cut off for a while gives all others ten seconds to come back',
    [
      [0, [1, 2]],
      [1000, [1]],
      [4000, [1], [], true],
      [6000, [1]],
      [8000, [1]],
      [10_000, [1]],
      [12_000, [1]],
      [14_000, [1]],
    ],
    [[], [], [], [], [], [], [], [2]],
  ],
] as const)
  test(what, () => expect(watch(steps as never)).toEqual(gone))
