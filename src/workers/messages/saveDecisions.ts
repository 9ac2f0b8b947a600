import type { Message } from '../../core/message/message.ts'
import type { Ending } from '../../core/message/messageTries.ts'
import type { Db } from '../../store/db.ts'
import { saveMessageResults } from '../../store/messages/messages.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'

export type TakenMessage = Message & { lease_token: string; payment?: PaymentWithMerchant }

// What becomes of a message that was taken, before anything is sent.
export type Decision = { taken: TakenMessage; ending: Ending; messenger?: string; leaves?: true }

// Gives back what was still ours.
export async function saveDecisions(db: Db, decided: readonly Decision[]): Promise<Decision[]> {
  const results = decided.map(({ taken, ending, messenger = null, leaves = false }) => {
    const { merchant_id, message_id, lease_token } = taken
    const unanswered = taken.unanswered + (leaves ? 1 : 0)
    return { merchant_id, message_id, lease_token, ...ending, messenger, unanswered, under_way: leaves }
  })
  const saved = await saveMessageResults(db, results)
  const ours = new Set(saved.map(nameOf))
  return decided.filter(({ taken }) => ours.has(nameOf(taken)))
}

const nameOf = ({ merchant_id, message_id }: Pick<Message, 'merchant_id' | 'message_id'>) =>
  `${merchant_id} ${message_id}`
