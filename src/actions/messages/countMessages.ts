import type { Db } from '../../store/db.ts'
import { messageStats } from '../../store/messages/messageCounts.ts'

export type MessageQueue = { queued: number; oldest_due_seconds: number }

export async function countQueuedMessages(db: Db, now: Date): Promise<MessageQueue> {
  const { queued, oldest_due_at } = await messageStats(db, now)
  const oldest_due_seconds = oldest_due_at ? Math.max(0, (now.getTime() - oldest_due_at.getTime()) / 1000) : 0
  return { queued, oldest_due_seconds }
}
