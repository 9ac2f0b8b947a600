import { expect, test } from 'vitest'
import { nodeLeaseToken, nodeOfToken } from '../../../src/store/notifications/deliveries.ts'

for (const [token, node] of [
  [nodeLeaseToken(12, 'abc'), 12],
  [nodeLeaseToken(2 ** 31 - 1, 'n7-x'), 2 ** 31 - 1],
  ['n0123456789abcde', undefined], // of a node that could not be sure to be seen
  ['x', undefined],
  ['n12', undefined],
] as const)
  test(`the lease ${token} ends with ${node ?? 'its time alone'}`, () =>
    expect(nodeOfToken(token)).toBe(node))
