import type { Db } from '../../store/db.ts'
import { countExhausted } from '../../store/notifications/notificationList.ts'
import { type Check, fine, warning } from './check.ts'

const days = 7
const most = 10_000 // of a merchant; more need not be counted to be told

// News that a merchant never acknowledged.
export async function checkDeliveries(db: Db, now: Date): Promise<Check> {
  const exhausted = await countExhausted(db, new Date(now.getTime() - days * 86_400_000), most)
  if (exhausted === 0) return fine('deliveries', `none was exhausted in the last ${days} days`)
  const many = exhausted >= most ? `${exhausted} or more` : String(exhausted)
  const were = exhausted === 1 ? '1 was' : `${many} were`
  const fact = `${were} exhausted in the last ${days} days: never acknowledged`
  return warning('deliveries', fact, 'See them: tollgate notification list --state exhausted')
}
