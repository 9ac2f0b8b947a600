import type { HealthUpdate } from '../../runtime/providers/healthWindows.ts'
import type { HealthMonitors } from '../../runtime/providers/healthMonitor.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { changingAccounts } from '../../store/providers/accounts.ts'
import { closeRefusals, findAttempt, hasRefusal } from '../../store/providers/refusals.ts'
import { reopenTaskOf } from '../../store/payments/tasks.ts'

type Deps = Pick<Runtime, 'db' | 'clock' | 'watch'> & { keepers: Pick<HealthMonitors, 'windows'> }

const accepted = 'The provider accepts the credentials again.'

// Raises a task where a provider refuses the credentials of an account: one for the account, on the attempt that met it,
// however many nodes and attempts meet it. It is closed when the provider answers again.
export async function raiseRefusals({ keepers, ...deps }: Deps) {
  const { takeUpdates: news, again } = keepers.windows.accountNews()
  try {
    for (const one of news) await raise(deps, one)
  } catch (error) {
    again()
    throw error
  }
}

async function raise({ db, clock, watch }: Omit<Deps, 'keepers'>, { account, refused }: HealthUpdate) {
  const now = clock()
  if (!refused) {
    await closeRefusals(db, account, accepted, now)
    return
  }
  const { attempt_id, words } = refused
  const note = `The provider refuses the credentials of ${account}: ${words}`
  const raised = await changingAccounts(db, async tx => {
    if (await hasRefusal(tx, account)) return undefined
    const attempt = await findAttempt(tx, merchantOfToken(attempt_id), attempt_id)
    const task = attempt && (await reopenTaskOf(tx, attempt, 'account_refused', note, now))
    return task && { attempt, task }
  })
  if (raised) watch({ attempt: raised.attempt, events: [], tasks: [raised.task] })
}
