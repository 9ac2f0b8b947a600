import type { Heartbeats } from '../../runtime/heartbeats.ts'
import type { Medium } from '../../core/message/messenger.ts'
import type { Db } from '../../store/db.ts'
import { deleteOldMessages } from '../../store/messages/messages.ts'
import { alwaysSearching, type GatedWork } from '../../runtime/dueWork.ts'
import { startLoop } from '../loop.ts'
import { createSender, type SenderOptions } from './sender.ts'

const restMs = 500
const forgetRestMs = 3_600_000
const stopTimeoutMs = 10_000 // a mail server may take minutes; the rest is left to the lease

type Messages = { underWay(medium: Medium): number; wake(): void; stop(): Promise<void> }

// One loop for each medium. They are separate from the deliveries, so that no notification waits for a message. `wake` is
// called after a commit in this process; messages of other nodes are found by polling.
export function startMessages(
  options: Omit<SenderOptions, 'wake'> & { work?: GatedWork; heartbeats?: Heartbeats },
): Messages {
  const { db, clock, onTrouble, pause, work = alwaysSearching, heartbeats } = options
  const sender = createSender({ ...options, wake })
  const send = (medium: Medium) =>
    startLoop({
      restMs,
      step: work.gated(medium, () => sender.step(medium)),
      onTrouble,
      pause,
      heartbeat: heartbeats?.of(medium),
    })
  const loops = { sms: send('sms'), email: send('email') }
  function wake(medium: Medium) {
    work.reopen(medium)
    loops[medium].wake()
  }
  const forgetting = startLoop({
    restMs: forgetRestMs,
    step: () => forgetOldMessages(db, clock()),
    onTrouble,
    pause,
    heartbeat: heartbeats?.of('oldMessages'),
  })
  return {
    underWay: sender.underWay,
    wake() {
      wake('sms')
      wake('email')
    },
    async stop() {
      await Promise.all([loops.sms.stop(), loops.email.stop(), forgetting.stop()])
      await sender.stop(stopTimeoutMs)
    },
  }
}

const retentionMs = 90 * 24 * 3_600_000
const batch = 5000

// Messages contain personal data, so they are kept only as long as a customer or merchant may ask about them.
export const forgetOldMessages = (db: Db, now: Date) =>
  deleteOldMessages(db, new Date(now.getTime() - retentionMs), batch)
