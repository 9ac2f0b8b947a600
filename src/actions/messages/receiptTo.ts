import { Unavailable } from '../../core/interface/refusal.ts'
import { maskMailbox, maskPhone } from '../../core/mask.ts'
import { customerMessageId } from '../../core/message/message.ts'
import type { Medium } from '../../core/message/messenger.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { findUnderWay } from '../../store/messages/sentMessages.ts'

export type CanSend = (medium: Medium, recipient: string) => boolean

type Receiver = Pick<Payment, 'merchant_id' | 'tx_reference' | 'number' | 'email'>

// Where the receipt of a paid payment goes, for the customer to recognise: what is queued or was sent, and not what was
// dropped or stays in the inbox of the house.
export async function receiptTo(db: Db, payment: Receiver, carries: CanSend): Promise<string[]> {
  const { merchant_id, tx_reference, number, email } = payment
  if (!number && !email) return []
  const ids = (['sms', 'email'] as const).map(medium => customerMessageId(tx_reference, 'paid', medium))
  try {
    const messages = await findUnderWay(db.withQuota('checkout'), merchant_id, ids)
    return messages
      .filter(({ medium, recipient }) => carries(medium, recipient))
      .map(({ medium, recipient }) => (medium === 'sms' ? maskPhone(recipient) : maskMailbox(recipient)))
  } catch (error) {
    if (error instanceof Unavailable) return [] // the result is worth more than where it was told
    throw error
  }
}
