import type { Runtime } from '../../runtime/runtime.ts'
import { inboxOn } from '../messages/inbox.ts'
import { inlineDispatchOn } from './inlineDispatch.ts'

// After a decision that was written. Those who carry notifications and messages in this process have heard of it by then;
// where there are none, somebody has to look.
export function wakeDispatchers({ db, wake }: Pick<Runtime, 'db' | 'wake'>) {
  if (!inlineDispatchOn(db) || !inboxOn(db)) wake('senders')
}
