import type { Config } from '../../config.ts'
import { opensTo } from '../../core/thisMachine.ts'
import { type Check, fine, warning } from './check.ts'

// Who may look at what is the operator's.
export const checkDoors = (config: Config): Check[] => [
  checkDoor('support', '/support and /inbox are', 'TOLLGATE_SUPPORT_TOKEN', config),
  checkDoor('metrics', '/metrics is', 'TOLLGATE_METRICS_TOKEN', config),
]

type TokenName = 'TOLLGATE_SUPPORT_TOKEN' | 'TOLLGATE_METRICS_TOKEN'

function checkDoor(check: string, what: string, setting: TokenName, config: Config): Check {
  const who = opensTo({ ...config, token: config[setting] })
  if (who === 'this_machine') return fine(check, `${what} open to this machine only`)
  if (who === 'token') return fine(check, `${what} open to who has ${setting}`)
  return warning(
    check,
    `${what} shut: others reach this gateway, and ${setting} is not set`,
    `To look at it, set ${setting} to at least 16 characters: openssl rand -hex 16`,
  )
}
