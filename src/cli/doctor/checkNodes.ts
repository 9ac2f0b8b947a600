import { randomInt } from 'node:crypto'
import type { Db } from '../../store/db.ts'
import { openListeningSession } from '../../store/nodeSession.ts'
import { type Check, fine, warning } from './check.ts'

// Whether nodes hear each other through the database.
export async function checkNodes(db: Db): Promise<Check> {
  try {
    const session = await openListeningSession(db, randomInt(1, 2 ** 31), () => {})
    await session.close()
    return fine('nodes', 'they hear each other through the database')
  } catch (error) {
    return warning(
      'nodes',
      `they do not hear each other: ${(error as Error).message}`,
      'All works, but later: let DATABASE_URL lead to PostgreSQL itself, or to a pooler by session.',
    )
  }
}
