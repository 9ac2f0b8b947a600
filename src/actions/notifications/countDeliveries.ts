import type { Db } from '../../store/db.ts'
import { deliveryStats } from '../../store/notifications/deliveries.ts'

export type DeliveryCounts = { due: number; parked: number; oldest_due_seconds: number }

export async function countDeliveries(db: Db, now: Date): Promise<DeliveryCounts> {
  const { due, parked, oldest_due_at } = await deliveryStats(db, now)
  const oldest_due_seconds = oldest_due_at ? Math.max(0, (now.getTime() - oldest_due_at.getTime()) / 1000) : 0
  return { due, parked, oldest_due_seconds }
}
