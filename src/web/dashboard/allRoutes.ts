import { createPasswordHasher } from '../../runtime/passwordHasher.ts'
import type { AreaDeps } from './areaDeps.ts'
import { merchantAuditRoutes, operatorAuditRoutes } from './audit/auditRoutes.tsx'
import type { DashboardRoutes } from './dashboard.tsx'
import { firstVisitRoutes } from './firstVisit/firstVisitRoutes.tsx'
import { moneyRoutes } from './money/moneyRoutes.tsx'
import { overviewRoutes } from './overview/overviewRoutes.tsx'
import { ownAccountRoutes } from './ownAccount/ownAccountRoutes.tsx'
import { paymentsRoutes } from './payments/paymentsRoutes.tsx'
import { ownPasskeyRoutes, passkeyRoutes } from './passkeys/passkeyRoutes.tsx'
import { linkRoutes } from './people/linkRoutes.tsx'
import { teamRoutes } from './people/teamRoutes.tsx'
import { usersRoutes } from './people/usersRoutes.tsx'
import { settingsRoutes } from './settings/settingsRoutes.tsx'
import { ownSignInRoutes, signInRoutes } from './signIn/signInRoutes.tsx'
import { takeRoutes, takeScripts } from './take/takeRoutes.tsx'

// The routes of every area of the dashboard.
export function allDashboardRoutes(deps: AreaDeps): DashboardRoutes {
  const access = { ...deps, hasher: createPasswordHasher() }
  return {
    merchant: [
      ...overviewRoutes(deps),
      ...moneyRoutes(deps),
      ...paymentsRoutes(deps),
      ...takeRoutes(deps),
      ...settingsRoutes(deps),
      ...teamRoutes(deps),
      ...merchantAuditRoutes(deps),
    ],
    operator: [...usersRoutes(deps), ...operatorAuditRoutes(deps)],
    own: [
      ...ownSignInRoutes(access),
      ...ownAccountRoutes(access),
      ...ownPasskeyRoutes(access),
      ...takeScripts,
    ],
    open: [
      ...firstVisitRoutes(access),
      ...signInRoutes(access),
      ...linkRoutes(access),
      ...passkeyRoutes(access),
    ],
  }
}
