import { createPasswordHasher } from '../../runtime/passwordHasher.ts'
import { accountsRoutes } from './accounts/accountsRoutes.tsx'
import type { AreaDeps } from './areaDeps.ts'
import { merchantAuditRoutes, oneVerification, operatorAuditRoutes } from './audit/auditRoutes.tsx'
import type { DashboardRoutes } from './dashboard.tsx'
import { developersRoutes } from './developers/developersRoutes.tsx'
import { firstVisitRoutes } from './firstVisit/firstVisitRoutes.tsx'
import { liveRoutes } from './live/liveRoutes.tsx'
import { handoverRoutes, merchantsRoutes } from './merchants/merchantsRoutes.tsx'
import { moneyRoutes } from './money/moneyRoutes.tsx'
import { overviewRoutes } from './overview/overviewRoutes.tsx'
import { messagesRoutes } from './messages/messagesRoutes.tsx'
import { outletsRoutes } from './outlets/outletsRoutes.tsx'
import { operatorRefundsRoutes } from './operatorRefunds/operatorRefundsRoutes.tsx'
import { searchRoutes } from './operatorSearch/searchRoutes.tsx'
import { ownAccountRoutes } from './ownAccount/ownAccountRoutes.tsx'
import { paymentsRoutes } from './payments/paymentsRoutes.tsx'
import { ownPasskeyRoutes, passkeyRoutes } from './passkeys/passkeyRoutes.tsx'
import { linkRoutes } from './people/linkRoutes.tsx'
import { teamRoutes } from './people/teamRoutes.tsx'
import { usersRoutes } from './people/usersRoutes.tsx'
import { privacyRoutes } from './privacy/privacyRoutes.tsx'
import { settingsRoutes } from './settings/settingsRoutes.tsx'
import { tasksRoutes } from './tasks/tasksRoutes.tsx'
import { ownSignInRoutes, signInRoutes } from './signIn/signInRoutes.tsx'
import { takeRoutes, takeScripts } from './take/takeRoutes.tsx'

// The routes of every area of the dashboard.
export function allDashboardRoutes(deps: AreaDeps): DashboardRoutes {
  const access = { ...deps, hasher: createPasswordHasher() }
  const audit = { ...deps, verifying: oneVerification() }
  return {
    merchant: [
      ...overviewRoutes(deps),
      ...moneyRoutes(deps),
      ...paymentsRoutes(deps),
      ...takeRoutes(deps),
      ...developersRoutes(deps),
      ...settingsRoutes(deps),
      ...outletsRoutes,
      ...teamRoutes(deps),
      ...merchantAuditRoutes(audit),
    ],
    operator: [
      ...liveRoutes(deps),
      ...merchantsRoutes(deps),
      ...accountsRoutes(deps),
      ...tasksRoutes(deps),
      ...operatorRefundsRoutes(deps),
      ...messagesRoutes(deps),
      ...searchRoutes(deps),
      ...usersRoutes(deps),
      ...operatorAuditRoutes(audit),
      ...privacyRoutes(deps),
    ],
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
      ...handoverRoutes(deps),
    ],
  }
}
