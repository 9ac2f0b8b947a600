import { describe, expect, test } from 'vitest'
import {
  deliveryState,
  hintsFor,
  missingTries,
  results,
  resultText,
} from '../../../src/core/notification/delivery.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'

for (const [url, acknowledged_at, exhausted_at, state] of [
  [null, null, null, 'none'],
  ['https://shop.example', null, null, 'due'],
  ['https://shop.example', noon, null, 'acknowledged'],
  ['https://shop.example', null, noon, 'exhausted'],
] as const)
  test(`the state is ${state}`, () =>
    expect(deliveryState({ url, acknowledged_at, exhausted_at })).toBe(state))

test('every result has a text, and an unknown result is shown as it is', () => {
  for (const result of results) expect(resultText(result)).toMatch(/^[a-z]/)
  expect(resultText('eaten_by_a_goat' as 'busy')).toBe('eaten_by_a_goat')
})

test('each hint is shown once, and only for results that someone can fix', () => {
  expect(hintsFor([null, 'timeout', 'acknowledged', 'server_error'])).toEqual([])
  expect(hintsFor(['other_2xx', 'other_2xx', null])).toEqual([
    expect.stringContaining('arrived, but only status 200 acknowledges'),
  ])
  expect(hintsFor(['redirect', 'forbidden_address']).join()).toContain('TOLLGATE_EGRESS_LOOPBACK')
})

describe('tries that are not stored', () => {
  const month = hours(24 * 30)
  for (const [name, tries, written, age, lease, lost, forgotten] of [
    ['no try was made', 0, [], 0, null, [], []],
    ['no delivery', null, [], 0, null, [], []],
    ['all are stored', 2, [1, 2], 0, null, [], []],
    ['the last is in flight', 3, [1, 2], 0, seconds(5), [], []],
    ['its lease is over', 3, [1, 2], 0, -seconds(5), [3], []],
    ['one in the middle', 3, [1, 3], 0, null, [2], []],
    ['one before one in flight', 3, [1], 0, seconds(5), [2], []],
    ['the first are too old to be kept', 5, [4, 5], month + 1, null, [], [1, 2, 3]],
    ['all are too old', 3, [], month + 1, null, [], [1, 2, 3]],
    ['old, but one among those that are kept', 5, [3, 5], month + 1, null, [4], [1, 2]],
  ] as [string, number | null, number[], number, number | null, number[], number[]][])
    test(name, () => {
      const lease_until = lease === null ? null : after(lease)
      const found = missingTries({ tries, lease_until, created_at: after(-age) }, written, noon)
      expect(found).toEqual({ lost, forgotten })
    })
})
