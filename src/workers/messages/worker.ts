import { forgetOldMessages } from '../../actions/messages/forgetOldMessages.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { startLoop } from '../loop.ts'
import { createSender, type SenderOptions } from './sender.ts'

const restMs = 500
const forgetRestMs = 3_600_000
const stopPatienceMs = 10_000 // a mail server may take minutes; what it has not taken by then is left to its lease

export type Messages = { underWay(medium: Medium): number; wake(): void; stop(): Promise<void> }

// Sends what is due to customers, each medium in a loop of its own. Apart from the deliveries on purpose: a notification
// never waits for a message. A signal says that something was committed in this process; the rest is found by looking.
export function startMessages(options: Omit<SenderOptions, 'wake'>): Messages {
  const { db, clock, onTrouble, pause } = options
  const sender = createSender({ ...options, wake: medium => loops[medium].wake() })
  const send = (medium: Medium) => startLoop({ restMs, step: () => sender.step(medium), onTrouble, pause })
  const loops = { sms: send('sms'), email: send('email') }
  const forgetting = startLoop({
    restMs: forgetRestMs,
    step: () => forgetOldMessages(db, clock()),
    onTrouble,
    pause,
  })
  return {
    underWay: sender.underWay,
    wake() {
      loops.sms.wake()
      loops.email.wake()
    },
    async stop() {
      await Promise.all([loops.sms.stop(), loops.email.stop(), forgetting.stop()])
      await sender.stop(stopPatienceMs)
    },
  }
}
