import type { PaymentDetails } from '../../../actions/dashboard/paymentDetails.ts'
import { localTime } from '../../../core/zone.ts'
import type { MerchantVisit } from '../route.ts'
import { shortDay } from './filterBar.tsx'

// What the cards of a payment's page have in common.

// The result of an action.
export type PaymentNotice = { text: string; isRefused?: boolean }

export type PaymentPageProps = {
  visit: MerchantVisit
  details: PaymentDetails
  outletName: string | null
  timeZone: string
  baseUrl: string // of the checkout
  notice?: PaymentNotice
  isRevealed?: boolean // shows the full number and email, in this answer only
}

// The address of the payment's page.
export const pathOf = ({ base }: MerchantVisit, { explained }: Pick<PaymentDetails, 'explained'>) =>
  `${base}/payments/${explained.payment.tx_reference}`

// The day, if it is not that of the heading.
export const Clock = ({
  at,
  day,
  visit,
  timeZone,
}: { at: Date; day?: string } & Pick<PaymentPageProps, 'visit' | 'timeZone'>) => {
  const local = localTime(at, timeZone)
  return (
    <time datetime={at.toISOString()}>
      {local.day === day ? local.time : `${shortDay(local.day, visit.lang)} ${local.time}`}
    </time>
  )
}

export const dayOf = ({ details, timeZone }: Pick<PaymentPageProps, 'details' | 'timeZone'>) =>
  localTime(details.explained.payment.created_at, timeZone).day
