import { installationSecrets } from '../../actions/installation/secrets.ts'
import { dashboardUrlOf } from '../baseUrl.ts'
import type { CommandContext } from '../database.ts'
import { refused } from '../failure.ts'

// What a command needs to make a link.
export async function linkTools({ db, masterKeys, config, clock, actor }: CommandContext) {
  if (new URL(dashboardUrlOf(config)).port === '0')
    throw refused(
      'PORT is 0, so the address of the gateway is unknown: set PORT or TOLLGATE_BASE_URL, and run this again.',
    )
  const now = clock()
  const { formKey } = await installationSecrets(db, masterKeys, now)
  return { deps: { db, formKey, baseUrl: dashboardUrlOf(config) }, change: { actor, by: actor.id, now } }
}
