import type { SignedIn } from '../../actions/access/sessions.ts'
import type { Actor } from '../../core/access/audit.ts'
import type {
  MerchantPermission,
  OperatorPermission,
  Permission,
  Role,
} from '../../core/access/permissions.ts'
import type { InstallationState } from '../../core/installation/installationState.ts'
import type { Lang } from '../../core/languages/languages.ts'
import type { Mode } from '../../core/mode.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Ctx } from '../http/context.ts'

// What a handler knows about the signed-in user. The guard in dashboard.tsx has checked the session, the permission of the
// route, the origin of a form and its token.
export type Visit = {
  signedIn: SignedIn
  role: Role
  actor: Actor // for the audit log
  lang: Lang
  now: Date
  db: Runtime['db'] // with the connection quota of the dashboard, and the deadline of this request
  formToken: string // for every form of the page
  may(permission: Permission): boolean
  installation: InstallationState // on a copy every page says so
  field(name: string): string // of a submitted form; empty if it is missing
  file(name: string): Buffer | undefined // of a form with a file
}

export type MerchantVisit = Visit & {
  merchant: { merchant_id: string; name: string }
  mode: Mode
  outlets: readonly string[] | null // of a cashier; null: all outlets
  base: string // the address of the merchant's part in this mode, such as /dashboard/m/4f7k2q8x9a/live
}

type Handle<V> = (c: Ctx, visit: V) => Promise<Response> | Response

type Route<P, V> = {
  method: 'get' | 'post'
  path: string // below the part
  permission: P
  hasFile?: boolean // the form is multipart/form-data with a file
  isSensitive?: boolean // needs the password or the second factor of the last minutes
  // A form that proves that it continues what a confirmed form has begun is accepted without another confirmation.
  isContinued?(visit: Visit): boolean
  handle: Handle<V>
}

export type MerchantRoute = Route<MerchantPermission, MerchantVisit>
export type OperatorRoute = Route<OperatorPermission, Visit>

// A page for every signed-in user: his own account.
export type OwnRoute = Omit<Route<never, Visit>, 'permission'> & {
  isBeforeSecondFactor?: boolean // open to an operator who has not set up the second factor
}

// What a handler knows about a browser without a session. The guard has checked the rate limit, the origin of a form and
// its token.
export type PublicVisit = Pick<Visit, 'lang' | 'now' | 'db' | 'formToken' | 'field'> & {
  address: string
  agent: string
  formCookie: string // the cookie that the form token belongs to; every page of the visit sets it
}

// A page without a session: sign-in, invitation, reset.
export type PublicRoute = Omit<Route<never, PublicVisit>, 'permission' | 'isSensitive' | 'isContinued'>

export const operatorBase = '/dashboard/operator'
export const merchantBase = (merchant_id: string, mode: Mode) => `/dashboard/m/${merchant_id}/${mode}`
