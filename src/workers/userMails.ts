import { sendUserMails } from '../actions/access/sendUserMails.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { Messenger } from '../core/message/messenger.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 3000

type UserMailOptions = {
  messenger?: Pick<Messenger, 'send'>
  trouble(error: unknown): void
  pause?: Pause
}

// Sends the mails to the people who sign in: invitations, links for a new password, and what has changed. Every node does
// it; a mail is taken by one.
export function startUserMails(
  { db, formKey, baseUrl, clock }: Pick<Runtime, 'db' | 'formKey' | 'baseUrl' | 'clock'>,
  { messenger, trouble, pause }: UserMailOptions,
): Loop {
  const source = { db: db.withQuota('user_mails'), formKey, baseUrl }
  const step = () => sendUserMails(source, messenger, clock(), Math.random())
  return startLoop({ restMs, step, onTrouble: trouble, pause })
}
