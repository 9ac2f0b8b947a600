import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { openDb } from '../../../src/store/db.ts'
import { migrate } from '../../../src/store/migrate/migrate.ts'
import { type FreshDatabase, query } from './database.ts'

// The URL of a Citus coordinator, in a database that has the extension and its workers.
export const shardedUrl = process.env.TOLLGATE_TEST_SHARDED_URL

const page = 'docs/decisions/postgresql-only.md'

// The SQL that the documentation tells an operator to run.
export const spreading = () => /```sql\n([^`]*)```/.exec(readFileSync(page, 'utf8'))?.[1] ?? ''

// A separate schema with all tables, distributed as the documentation says.
export async function shardedDatabase(server: string): Promise<FreshDatabase> {
  const schema = `test_${randomBytes(8).toString('hex')}`
  await query(server, `create schema ${schema}`)
  const url = `${server}${server.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c search_path=${schema}`)}`
  const db = openDb(url, 2)
  await migrate(db)
  await db.end()
  for (const statement of spreading().split('\n').filter(Boolean)) await query(url, statement)
  return { url, drop: async () => void (await query(server, `drop schema ${schema} cascade`)) }
}

const taskCount = /^\s*Task Count: (\d+)/

// The number of shards that a statement uses; of a statement in several steps, the highest of one step. Undefined if Citus
// runs the statement but cannot explain it.
export async function shardsOf(url: string, text: string, values: unknown[]): Promise<number | undefined> {
  try {
    const plan = (await query(url, `explain (costs off) ${text}`, values)) as { 'QUERY PLAN': string }[]
    return Math.max(0, ...plan.map(row => Number(taskCount.exec(row['QUERY PLAN'])?.[1] ?? 0)))
  } catch (error) {
    if ((error as { code?: string }).code === '0A000') return undefined
    throw error
  }
}
