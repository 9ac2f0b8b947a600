import { describe, expect, test } from 'vitest'
import { keysOfRunning, neededKey } from '../../../src/core/operator/masterKeyNeed.ts'

const use = (master_key_id: string, seals_installation = false) => ({
  master_key_id,
  rows: 1,
  seals_installation,
})
const need = (inUse: ReturnType<typeof use>[], held: string[], others: string[] = []) =>
  neededKey({ inUse, held: id => held.includes(id), heldByOthers: new Set(others) })

describe('a node needs a key that it lacks', () => {
  test('if the key seals the secrets of the installation', () => {
    expect(need([use('old'), use('new', true)], ['old'])).toBe('new')
  })
  test('if another node has it', () => {
    expect(need([use('old', true), use('new')], ['old'], ['old', 'new'])).toBe('new')
  })
  test('if no secret opens without it', () => {
    expect(need([use('new')], ['old'])).toBe('new')
  })
})

describe('a node needs nothing', () => {
  test('on a new database', () => expect(need([], ['old'])).toBeUndefined())
  test('if it has every key', () =>
    expect(need([use('old', true), use('new')], ['old', 'new'])).toBeUndefined())
  test('if a key is lost everywhere', () => {
    expect(need([use('old', true), use('lost')], ['old'], ['old'])).toBeUndefined()
  })
})

const seen = (seen_ms_ago: number, ...key_ids: string[]) => ({ seen_ms_ago, key_ids })

test('a node that was not seen for half a minute has no key: it has died, or hangs', () => {
  expect([...keysOfRunning([seen(0, 'old', 'new'), seen(30_000, 'new'), seen(30_001, 'lost')])]).toEqual([
    'old',
    'new',
  ])
})
