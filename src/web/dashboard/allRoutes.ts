import { createPasswordHasher } from '../../runtime/passwordHasher.ts'
import type { AreaDeps } from './areaDeps.ts'
import type { DashboardRoutes } from './dashboard.tsx'
import { overviewRoutes } from './overview/overviewRoutes.tsx'
import { ownAccountRoutes } from './ownAccount/ownAccountRoutes.tsx'
import { ownSignInRoutes, signInRoutes } from './signIn/signInRoutes.tsx'

// The routes of every area of the dashboard.
export function allDashboardRoutes(deps: AreaDeps): DashboardRoutes {
  const access = { ...deps, hasher: createPasswordHasher() }
  return {
    merchant: [...overviewRoutes(deps)],
    operator: [],
    own: [...ownSignInRoutes(access), ...ownAccountRoutes(access)],
    open: [...signInRoutes(access)],
  }
}
