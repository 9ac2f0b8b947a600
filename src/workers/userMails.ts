import type { Heartbeats } from '../runtime/heartbeats.ts'
import { cleanUserLinks, sendUserMails } from '../actions/access/sendUserMails.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { Messenger } from '../core/message/messenger.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { alwaysSearching, type GatedWork } from '../runtime/dueWork.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 3000
const cleanEveryMs = 3_600_000

type UserMailOptions = {
  messenger?: Pick<Messenger, 'send'>
  trouble(error: unknown): void
  pause?: Pause
  work?: GatedWork
  heartbeats?: Heartbeats
}

// Sends the mails to the people who sign in: invitations, links for a new password, and what has changed. Every node does
// it; a mail is taken by one.
export function startUserMails(
  { db, formKey, dashboardUrl, clock }: Pick<Runtime, 'db' | 'formKey' | 'dashboardUrl' | 'clock'>,
  { messenger, trouble, pause, work = alwaysSearching, heartbeats }: UserMailOptions,
): Loop {
  const source = { db: db.withQuota('user_mails'), formKey, dashboardUrl }
  let cleaned = 0
  const send = work.gated('userMails', () => sendUserMails(source, messenger, clock(), Math.random()))
  async function step() {
    const now = clock()
    if (now.getTime() - cleaned >= cleanEveryMs) {
      await cleanUserLinks(source.db, now)
      cleaned = now.getTime()
    }
    return send()
  }
  return startLoop({ restMs, step, onTrouble: trouble, pause, heartbeat: heartbeats?.of('userMails') })
}
