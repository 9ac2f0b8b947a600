import type { IpnStyle, MerchantSettings } from '../merchant/settings.ts'
import type { NewPayment } from '../payment/payment.ts'
import { isTaken } from '../payment/takenPayment.ts'
import type { UntrustedUrl } from '../urlTrust.ts'
import { laneOf, takenLane } from './lane.ts'
import { ipnUrlOf } from './notification.ts'

type Subject = Pick<NewPayment, 'invoice_id' | 'ipn_url' | 'mode'>
type Settings = Pick<MerchantSettings, 'ipn_url' | 'ipn_style' | 'ipn_taken_payments'>

// Where a notification about a payment is sent; undefined if nowhere. The shop has not requested a taken payment, so its
// endpoint is notified of it only if the merchant has opted in.
export function destinationOf(
  payment: Subject,
  settings: Settings,
): { url: UntrustedUrl; lane: string; style: IpnStyle } | undefined {
  const url = ipnUrlOf(payment, settings)
  if (url === null) return undefined
  const style = settings.ipn_style
  if (!isTaken(payment)) return { url, lane: laneOf(url, payment.mode, settings), style }
  return settings.ipn_taken_payments ? { url, lane: takenLane(url, payment.mode), style } : undefined
}
