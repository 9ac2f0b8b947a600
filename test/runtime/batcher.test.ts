import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ShardUnavailable, Unavailable } from '../../src/core/interface/refusal.ts'
import { createBatcher } from '../../src/runtime/batcher.ts'

// A statement that ends when the test says so.
function heldStatements() {
  const running: { items: number[]; end(): void; fail(error: Error): void }[] = []
  const run = (items: number[]) =>
    new Promise<number[]>((resolve, reject) => {
      running.push({ items, end: () => resolve(items.map(item => item * 10)), fail: reject })
    })
  return { running, run }
}

async function until(condition: () => boolean) {
  for (let turns = 0; turns < 100 && !condition(); turns++) await nextTurn()
}

const limits = { maxRows: 3, maxInFlight: 2, maxQueued: 10 }

test('idle: a request goes at once and alone', async () => {
  const { running, run } = heldStatements()
  const batcher = createBatcher({ ...limits, run })
  const answer = batcher.add(1)
  await nextTurn()
  expect(running.map(batch => batch.items)).toEqual([[1]])
  running[0]?.end()
  expect(await answer).toBe(10)
})

test('busy: what arrives meanwhile shares the next statement, each with its own answer', async () => {
  const { running, run } = heldStatements()
  const batcher = createBatcher({ ...limits, maxInFlight: 1, run })
  const first = batcher.add(1)
  await nextTurn()
  const others = [2, 3, 4, 5].map(item => batcher.add(item))
  await nextTurn()
  expect(running).toHaveLength(1)
  expect(batcher.depth()).toBe(4)
  running[0]?.end()
  await first
  await until(() => running.length === 2)
  expect(running[1]?.items).toEqual([2, 3, 4]) // at most maxRows
  running[1]?.end()
  await until(() => running.length === 3)
  running[2]?.end()
  expect(await Promise.all(others)).toEqual([20, 30, 40, 50])
})

test('never more statements in flight than allowed', async () => {
  const { running, run } = heldStatements()
  const batcher = createBatcher({ ...limits, maxRows: 1, run })
  for (let item = 0; item < 6; item++) void batcher.add(item)
  await nextTurn()
  expect(running).toHaveLength(2)
})

test('items of one group are never in two statements at once, and hold up no others', async () => {
  const { running, run } = heldStatements()
  const batcher = createBatcher({
    ...limits,
    run,
    groupsOf: item => (item < 10 ? [`tens ${item}`] : ['same']),
  })
  const answers = [10, 11, 12, 13, 1, 14].map(item => batcher.add(item))
  await nextTurn()
  expect(running.map(batch => batch.items)).toEqual([[10, 11, 12], [1]])
  running[1]?.end()
  await until(() => running.length > 2)
  expect(running).toHaveLength(2)
  running[0]?.end()
  await until(() => running.length > 2)
  expect(running[2]?.items).toEqual([13, 14])
  running[2]?.end()
  expect(await Promise.all(answers)).toEqual([100, 110, 120, 130, 10, 140])
})

test('a full queue refuses at once', async () => {
  const { run } = heldStatements()
  const batcher = createBatcher({ ...limits, maxInFlight: 1, run })
  void batcher.add(0)
  await nextTurn()
  for (let item = 0; item < limits.maxQueued; item++) void batcher.add(item)
  await expect(batcher.add(99)).rejects.toBeInstanceOf(Unavailable)
})

for (const [what, error] of [
  ['one bad item', new Error('unlucky')],
  ['an item whose worker of a sharded database is gone', new ShardUnavailable('gone')],
] as const)
  test(`${what} fails alone, its neighbours get their answers`, async () => {
    const batcher = createBatcher<number, number>({
      ...limits,
      async run(items) {
        if (items.includes(13)) throw error
        return items.map(item => item * 10)
      },
    })
    const answers = await Promise.allSettled([1, 13, 2].map(item => batcher.add(item)))
    expect(answers.map(answer => (answer.status === 'fulfilled' ? answer.value : 'refused'))).toEqual([
      10,
      'refused',
      20,
    ])
  })

test('a database out of reach fails all of them, without trying one by one', async () => {
  let runs = 0
  const batcher = createBatcher<number, number>({
    ...limits,
    run() {
      runs++
      return Promise.reject(new Unavailable('gone'))
    },
  })
  const answers = await Promise.allSettled([1, 2, 3].map(item => batcher.add(item)))
  expect(answers.every(answer => answer.status === 'rejected')).toBe(true)
  expect(runs).toBe(1)
})

for (const [what, more, outcomes] of [
  ['the queue fails with the batch', {}, ['refused', 'refused']],
  ['with a limit, what still has time is run', { maxWaitMs: 5000 }, ['refused', 20]],
  ['with a limit that has passed, it is refused', { maxWaitMs: -1 }, ['refused', 'refused']],
  ['the queue fails if the database hangs', { maxWaitMs: 5000, isHanging: true }, ['refused', 'refused']],
] as const)
  test(`a statement that took too long: ${what}`, async () => {
    const { running, run } = heldStatements()
    let isHanging = false
    const batcher = createBatcher({ ...limits, ...more, maxInFlight: 1, run, isHanging: () => isHanging })
    const answers = Promise.allSettled([batcher.add(1), nextTurn().then(() => batcher.add(2))])
    await until(() => batcher.depth() === 0 || running.length > 0)
    await nextTurn()
    isHanging = 'isHanging' in more
    running[0]?.fail(new Unavailable('Query read timeout'))
    await until(() => running.length === 2)
    running[1]?.end()
    expect((await answers).map(each => (each.status === 'fulfilled' ? each.value : 'refused'))).toEqual(
      outcomes,
    )
  })
