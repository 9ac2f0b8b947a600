import type { Logger } from 'pino'
import type { MessageQueue } from '../actions/messages/queueMessages.ts'
import type { Receipt } from '../core/message/messenger.ts'
import { type Metrics, sharedReading } from './metrics.ts'
import type { ObservedMessage } from '../workers/messages/sender.ts'

// Neither the log nor the metrics contain a recipient.
export function watchMessages({ counter }: Metrics, log: Logger) {
  const messages = counter(
    'tollgate_messages_total',
    'Messages by medium and outcome: sent, kept in the inbox, to be tried later, dropped.',
    ['medium', 'outcome'],
    (['sms', 'email'] as const).flatMap(medium =>
      (['sent', 'kept', 'later', 'dropped'] as const).map(outcome => ({ medium, outcome })),
    ),
  )
  const receipts = counter(
    'tollgate_message_receipts_total',
    'Delivery receipts of networks.',
    ['state'],
    [{ state: 'delivered' }, { state: 'lost' }],
  )
  return {
    observe({ merchant_id, message_id, medium, outcome, words }: ObservedMessage) {
      messages.inc({ medium, outcome })
      const facts = { merchant_id, message_id, medium, why: words }
      if (outcome === 'dropped') log.info(facts, 'a message was dropped')
      if (outcome === 'later') log.warn(facts, 'a message is retried later')
    },
    receipt: ({ state }: Pick<Receipt, 'state'>) => receipts.inc({ state }),
    trouble: (error: unknown) =>
      log.warn({ error: String(error) }, 'error in the message worker; it will retry'),
  }
}

export function gaugeMessages({ gauge }: Metrics, count: () => Promise<MessageQueue>) {
  const counts = sharedReading(count)
  gauge('tollgate_messages_queued', 'Messages that wait to be sent.', [], async queued =>
    queued.set((await counts()).queued),
  )
  gauge('tollgate_message_oldest_due_seconds', 'Age of the oldest message that is due.', [], async age =>
    age.set((await counts()).oldest_due_seconds),
  )
}
