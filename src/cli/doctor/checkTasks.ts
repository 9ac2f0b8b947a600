import type { Db } from '../../store/db.ts'
import { countOpenTasks } from '../../store/payments/tasks.ts'
import { type Check, fine, warning } from './check.ts'

// Money that only a person can put right.
export async function checkTasks(db: Db): Promise<Check> {
  const open = await countOpenTasks(db)
  if (open === 0) return fine('tasks', 'nothing waits for a person')
  const fact = open === 1 ? '1 task waits for a person' : `${open} tasks wait for a person`
  return warning('tasks', fact, 'See them: tollgate task list')
}
