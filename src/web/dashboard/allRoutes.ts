import type { Runtime } from '../../runtime/runtime.ts'
import type { DashboardRoutes } from './dashboard.tsx'

// What the areas need.
export type AreaDeps = { runtime: Runtime }

// The routes of every area of the dashboard.
export const allDashboardRoutes = (_deps: AreaDeps): DashboardRoutes => ({
  merchant: [],
  operator: [],
  own: [],
})
