import type { Config } from '../../config.ts'
import { type Check, fine } from './check.ts'

// What opens the pages of the operator. They are never open without a token.
export const checkDoors = (config: Config): Check[] => {
  const support = config.TOLLGATE_SUPPORT_TOKEN ? 'TOLLGATE_SUPPORT_TOKEN' : "this installation's own token"
  const metrics = config.TOLLGATE_METRICS_TOKEN ? `TOLLGATE_METRICS_TOKEN or ${support}` : support
  return [
    fine('support', `/support and /inbox need ${support}; tollgate support link opens them in a browser`),
    fine('metrics', `/metrics needs ${metrics} as a bearer token`),
  ]
}
