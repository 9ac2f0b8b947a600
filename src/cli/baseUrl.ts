import type { Config } from '../config.ts'
import type { Mode } from '../core/mode.ts'
import { listenUrl, ownDashboardAddress } from '../core/networkSettings.ts'

type Address = Pick<Config, 'TOLLGATE_BASE_URL' | 'HOST' | 'PORT'>

export const baseUrlOf = ({ TOLLGATE_BASE_URL, HOST, PORT }: Address) =>
  TOLLGATE_BASE_URL ?? listenUrl(HOST, PORT)

type DashboardSettings = Address &
  Pick<Config, 'TOLLGATE_DASHBOARD_URL' | 'TOLLGATE_DASHBOARD_HOST' | 'TOLLGATE_DASHBOARD_PORT'>

// The address of the dashboard and of sign-in links.
export function dashboardUrlOf(config: DashboardSettings): string {
  const own = ownDashboardAddress(config)
  return own ? (config.TOLLGATE_DASHBOARD_URL ?? listenUrl(own.host, own.port)) : baseUrlOf(config)
}

// Undefined if the base URL is https, or the account takes test payments only.
export function insecureAddressAdvice(config: Address, mode: Mode): string | undefined {
  const url = baseUrlOf(config)
  if (mode === 'test' || url.startsWith('https:')) return undefined
  return (
    `Live providers send callbacks to https only, and the base URL is ${url}. Set TOLLGATE_BASE_URL to the https ` +
    'address that customers use. Until then results are found by polling.'
  )
}
