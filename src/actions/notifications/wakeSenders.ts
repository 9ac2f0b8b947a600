import type { Runtime } from '../../runtime/runtime.ts'
import { inboxOn } from '../messages/inbox.ts'
import { carrierOn } from './carriers.ts'

// After a decision that was written. Those who carry notifications and messages in this process have heard of it by then;
// where there are none, somebody has to look.
export function wakeSenders({ db, wake }: Pick<Runtime, 'db' | 'wake'>) {
  if (!carrierOn(db) || !inboxOn(db)) wake('senders')
}
