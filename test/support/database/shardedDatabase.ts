import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { query } from './database.ts'

// The tests of a sharded PostgreSQL run where TEST_DATABASE_URL is the coordinator of a Citus cluster.
export const isSharded = inject('isSharded')

export const titleOnSharded = (what: string) =>
  `${what} on a sharded PostgreSQL${isSharded ? '' : ': skipped, TEST_DATABASE_URL is no Citus cluster'}`

export const canOrderWorkers = process.env.TEST_CITUS_CONTROL !== undefined

// Ends or starts a worker of `npm run cluster -- citus`.
export async function orderWorker(order: 'kill' | 'start', name: 'worker1' | 'worker2') {
  const path = process.env.TEST_CITUS_CONTROL
  if (!path) throw new Error('TEST_CITUS_CONTROL is not set: npm run cluster -- citus sets it')
  const socket = connect(path)
  socket.write(`${order} ${name}`)
  const answer = await text(socket)
  if (answer !== 'done') throw new Error(answer)
}

const taskCount = /^\s*Task Count: (\d+)/

// The number of shards that a statement uses; of a statement in several steps, the highest of one step. Undefined if Citus
// runs the statement but cannot explain it.
export async function shardsOf(
  url: string,
  statement: string,
  values: unknown[],
): Promise<number | undefined> {
  try {
    const plan = (await query(url, `explain (costs off) ${statement}`, values)) as { 'QUERY PLAN': string }[]
    return Math.max(0, ...plan.map(row => Number(taskCount.exec(row['QUERY PLAN'])?.[1] ?? 0)))
  } catch (error) {
    if ((error as { code?: string }).code === '0A000') return undefined
    throw error
  }
}
