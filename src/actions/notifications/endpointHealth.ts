import type { Mode } from '../../core/mode.ts'
import type { Db } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import {
  newestNotificationsOfMode,
  type NotificationRow,
} from '../../store/notifications/notificationList.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'

const read = 200 // of the newest notifications
const shown = 10

// How the endpoint of a merchant has answered the newest notifications of one mode.
export type EndpointHealth = {
  ipn_url: string | null
  sent: number
  acknowledged: number
  parked: number // the circuit breaker of their lane is open
  isFailing: boolean // the last answer was no acknowledgement
  failures: readonly NotificationRow[] // newest first
}

export async function endpointHealth(db: Db, merchant_id: string, mode: Mode): Promise<EndpointHealth> {
  const [merchant, notifications] = await Promise.all([
    findMerchant(db, merchant_id),
    newestNotificationsOfMode(db, merchant_id, mode, read),
  ])
  const sent = notifications.filter(one => one.last_result !== null)
  const byLastTry = sent.toSorted((a, b) => time(b.last_try_at) - time(a.last_try_at))
  const [last] = byLastTry
  return {
    ipn_url: merchant ? readMerchantSettings(merchant.settings).ipn_url : null,
    sent: sent.length,
    acknowledged: sent.filter(({ acknowledged_at }) => acknowledged_at).length,
    parked: sent.filter(({ parked }) => parked).length,
    isFailing: last !== undefined && last.last_result !== 'acknowledged',
    failures: byLastTry.filter(({ acknowledged_at }) => !acknowledged_at).slice(0, shown),
  }
}

const time = (at: Date | null) => at?.getTime() ?? 0
