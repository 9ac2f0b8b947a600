import type { Runtime } from '../../runtime/runtime.ts'

// After a commit that added notifications or messages. The commit has woken the workers of this process; without these
// workers, other nodes are woken.
export function wakeDispatchers({ localWorkers, wake }: Pick<Runtime, 'localWorkers' | 'wake'>) {
  if (!localWorkers.dispatch || !localWorkers.inbox) wake('senders')
}
