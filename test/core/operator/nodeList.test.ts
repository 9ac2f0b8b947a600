import { expect, test } from 'vitest'
import { lackWorkers, nodeList, type NodeRow, nodesThatMayRun } from '../../../src/core/operator/nodeList.ts'

const row = (of: Partial<NodeRow>): NodeRow => ({
  node: 'a',
  number: 1,
  is_listening: true,
  name: 'host',
  listens_at: 'http://localhost:3000',
  version: '0.3.0',
  schema: 45,
  key_ids: [],
  database_address: 'db:5432',
  clock_offset_ms: 0,
  is_paused: false,
  role: 'all',
  started_at: new Date(0),
  seen_at: new Date(0),
  seen_ms_ago: 1000,
  ...of,
})

for (const [what, of, locked, presence] of [
  ['writes and holds its lock', {}, [1], 'running'],
  ['wrote just now and has lost its lock', {}, [], 'gone'],
  ['writes and never held a lock: behind a pooler', { is_listening: false }, [], 'running'],
  ['has not written for 31 s, behind a pooler', { is_listening: false, seen_ms_ago: 31_000 }, [], 'gone'],
  ['has not written for 31 s and holds its lock', { seen_ms_ago: 31_000 }, [1], 'silent'],
  ['got its lock after its last heartbeat', { is_listening: false }, [1], 'running'],
] as const)
  test(`a node that ${what} is ${presence}`, () =>
    expect(nodeList([row(of)], locked).map(one => one.presence)).toEqual([presence]))

test('a lock without a row is a node of an earlier release', () =>
  expect(nodeList([row({})], [1, 2])).toMatchObject([
    { number: 1, presence: 'running' },
    { number: 2, presence: 'unlisted' },
  ]))

for (const [what, rows, locked, found] of [
  ['that has lost its lock a moment ago', [{}], [], [1]],
  ['that runs beside another one at its address', [{}, { node: 'b', number: 2 }], [2], [1, 2]],
  ['that hangs and holds its lock', [{ seen_ms_ago: 31_000 }], [1], [1]],
  ['of an earlier release', [], [3], [3]],
] as const)
  test(`a node ${what} may run`, () =>
    expect(nodesThatMayRun(rows.map(row), locked).map(one => one.number)).toEqual(found))

test('a node that was not seen for half a minute and holds no lock does not run', () =>
  expect(nodesThatMayRun([row({ seen_ms_ago: 30_001 })], [])).toEqual([]))

const numbers = (rows: NodeRow[], locked: number[]) => nodeList(rows, locked).map(one => one.number)

test('a node that has died is listed until one runs at its address again', () => {
  const dead = row({ node: 'b', number: 2 })
  const elsewhere = row({ node: 'c', number: 3, listens_at: 'http://localhost:3001' })
  expect(numbers([dead, elsewhere], [3])).toEqual([3, 2])
  expect(numbers([dead, row({}), elsewhere], [1, 3])).toEqual([1, 3])
})

const worker = { number: 2, role: 'worker', listens_at: 'http://localhost:3001' } as const
const web = { role: 'web', seen_at: new Date(60_000), started_at: new Date(0) } as const
for (const [what, rows, locked, lacks] of [
  ['a web node alone for a minute', [web], [1], true],
  ['a web node that has just started', [{ ...web, seen_at: new Date(59_999) }], [1], false],
  ['a web node and a worker', [web, worker], [1, 2], false],
  ['a worker that was seen a moment ago', [web, { ...worker, seen_ms_ago: 59_999 }], [1], false],
  ['a worker that was seen a minute ago', [web, { ...worker, seen_ms_ago: 60_000 }], [1], true],
  ['a node that does everything', [web, { number: 2 }], [1, 2], false],
  ['a node of an earlier release, which has workers', [web], [1, 2], false],
  ['no node', [], [], false],
] as const)
  test(`${what}: ${lacks ? 'lacks' : 'does not lack'} workers`, () =>
    expect(lackWorkers(nodeList(rows.map(row), locked))).toBe(lacks))
