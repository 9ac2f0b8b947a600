import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { FormToken } from '../../core/markup/page.tsx'

type RedeliverProps = PropsWithChildren<{ notification: SentNotification; formToken: string }>

// Sends a notification again; the children are its button. The form has the time at which the delivery began. After the
// first press the stored time differs, so a second press changes nothing.
export const RedeliverForm = ({
  notification: { merchant_id, tx_reference, sequence, begun_at },
  formToken,
  children,
}: RedeliverProps) => (
  <form method="post" action="/support/redeliver">
    <FormToken token={formToken} />
    <input type="hidden" name="merchant" value={merchant_id} />
    <input type="hidden" name="reference" value={tx_reference} />
    <input type="hidden" name="sequence" value={sequence} />
    <input type="hidden" name="seen" value={begun_at?.toISOString() ?? ''} />
    {children}
  </form>
)
