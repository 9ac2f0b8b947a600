import type { Logger } from 'pino'
import { Counter, Gauge } from 'prom-client'
import type { MessageQueue } from '../actions/messages/queueMessages.ts'
import type { Receipt } from '../core/message/messenger.ts'
import type { ObservedMessage } from '../workers/messages/sender.ts'
import type { Metrics } from './metrics.ts'

// Neither the log nor the metrics contain a recipient.
export function watchMessages({ registry }: Metrics, log: Logger) {
  const registers = [registry]
  const messages = new Counter({
    name: 'tollgate_messages_total',
    help: 'Messages by medium and outcome: sent, kept in the inbox, to be tried later, dropped.',
    labelNames: ['medium', 'outcome'],
    registers,
  })
  const receipts = new Counter({
    name: 'tollgate_message_receipts_total',
    help: 'Delivery receipts of networks.',
    labelNames: ['state'],
    registers,
  })
  return {
    observe({ merchant_id, message_id, medium, outcome, words }: ObservedMessage) {
      messages.inc({ medium, outcome })
      const facts = { merchant_id, message_id, medium, why: words }
      if (outcome === 'dropped') log.info(facts, 'a message was dropped')
      if (outcome === 'later') log.warn(facts, 'a message has to be tried again')
    },
    receipt: ({ state }: Pick<Receipt, 'state'>) => receipts.inc({ state }),
    trouble: (error: unknown) => log.warn({ error: String(error) }, 'messages have to try again'),
  }
}

export function gaugeMessages({ registry }: Metrics, count: () => Promise<MessageQueue>) {
  const registers = [registry]
  const waiting = new Gauge({
    name: 'tollgate_messages_queued',
    help: 'Messages that wait to be sent.',
    registers,
    async collect() {
      const { queued, oldest_due_seconds } = await count()
      this.set(queued)
      oldest.set(oldest_due_seconds)
    },
  })
  const oldest = new Gauge({
    name: 'tollgate_message_oldest_due_seconds',
    help: 'Age of the oldest message that is due.',
    registers,
  })
  return [waiting, oldest]
}
