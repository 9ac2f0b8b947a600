import { createPasswordHasher } from '../../runtime/passwordHasher.ts'
import type { AreaDeps } from './areaDeps.ts'
import type { DashboardRoutes } from './dashboard.tsx'
import { liveRoutes } from './live/liveRoutes.tsx'
import { handoverRoutes, merchantsRoutes } from './merchants/merchantsRoutes.tsx'
import { ownAccountRoutes } from './ownAccount/ownAccountRoutes.tsx'
import { ownSignInRoutes, signInRoutes } from './signIn/signInRoutes.tsx'

// The routes of every area of the dashboard.
export function allDashboardRoutes(deps: AreaDeps): DashboardRoutes {
  const access = { ...deps, hasher: createPasswordHasher() }
  return {
    merchant: [],
    operator: [...liveRoutes(deps), ...merchantsRoutes(deps)],
    own: [...ownSignInRoutes(access), ...ownAccountRoutes(access)],
    open: [...signInRoutes(access), ...handoverRoutes(deps)],
  }
}
