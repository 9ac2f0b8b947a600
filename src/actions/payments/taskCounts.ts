import type { Db } from '../../store/db.ts'
import { countTasksByKind } from '../../store/payments/tasks.ts'

export type TaskCount = { kind: string; open: number; oldest_seconds: number }

// The open tasks of all merchants, for the metrics.
export const taskCounts = (db: Db, now: Date): Promise<TaskCount[]> => countTasksByKind(db, now)
