import { createPasswordHasher } from '../../runtime/passwordHasher.ts'
import type { AreaDeps } from './areaDeps.ts'
import type { DashboardRoutes } from './dashboard.tsx'
import { ownAccountRoutes } from './ownAccount/ownAccountRoutes.tsx'
import { ownSignInRoutes, signInRoutes } from './signIn/signInRoutes.tsx'
import { takeRoutes, takeScripts } from './take/takeRoutes.tsx'

// The routes of every area of the dashboard.
export function allDashboardRoutes(deps: AreaDeps): DashboardRoutes {
  const access = { ...deps, hasher: createPasswordHasher() }
  return {
    merchant: [...takeRoutes(deps)],
    operator: [],
    own: [...ownSignInRoutes(access), ...ownAccountRoutes(access), ...takeScripts],
    open: [...signInRoutes(access)],
  }
}
