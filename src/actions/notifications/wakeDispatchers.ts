import type { Runtime } from '../../runtime/runtime.ts'
import { inboxOn } from '../messages/inbox.ts'
import { inlineDispatchOn } from './inlineDispatch.ts'

// Called after a status change was committed. Dispatchers in this process have received the change already. If one of them
// does not run here, other processes are woken.
export function wakeDispatchers({ db, wake }: Pick<Runtime, 'db' | 'wake'>) {
  if (!inlineDispatchOn(db) || !inboxOn(db)) wake('senders')
}
