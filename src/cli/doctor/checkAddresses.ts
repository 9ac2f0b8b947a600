import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../config.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import type { Db } from '../../store/db.ts'
import { liveMerchants } from '../../store/merchants/merchants.ts'
import { countPayers } from '../../store/payments/reports.ts'
import { isLoopbackName, listenUrl, ownDashboardAddress } from '../../core/networkSettings.ts'
import { dashboardUrlOf } from '../baseUrl.ts'
import { failureOf } from '../failure.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning } from './check.ts'

const healthTimeoutMs = 2000

export function checkBaseUrl(config: Config): Check {
  const { TOLLGATE_BASE_URL: url, HOST, PORT, TOLLGATE_TRUST_PROXY } = config
  if (config.isForThisMachineOnly) return checkOk('base URL', `http://${HOST}:${PORT}, for this machine only`)
  if (!url)
    return checkWarning(
      'base URL',
      isLoopbackName(HOST)
        ? `not set, although TOLLGATE_TRUST_PROXY is ${TOLLGATE_TRUST_PROXY}`
        : `not set, although HOST is ${HOST}`,
      'Set TOLLGATE_BASE_URL to the address that customers see, such as https://pay.example.',
    )
  if (url.startsWith('https:') || isLoopbackName(new URL(url).hostname)) return checkOk('base URL', url)
  return checkWarning(
    'base URL',
    url,
    'Customers should pay over https, and live providers send callbacks to https only: put a proxy in front and change TOLLGATE_BASE_URL.',
  )
}

// In live mode the dashboard should not have the origin of pages that show texts and logos of merchants.
export async function checkDashboard(db: Db, config: Config): Promise<Check> {
  if (ownDashboardAddress(config)) return checkOk('dashboard', `at ${dashboardUrlOf(config)}`)
  const fact = `at ${dashboardUrlOf(config)}/dashboard, the address of the checkout`
  if (config.isForThisMachineOnly || (await liveMerchants(db)).length === 0) return checkOk('dashboard', fact)
  return checkWarning(
    'dashboard',
    fact,
    'In live mode give it an address of its own, which a proxy can restrict: set TOLLGATE_DASHBOARD_PORT and TOLLGATE_DASHBOARD_URL.',
  )
}

export async function checkPort({ HOST, PORT }: Config): Promise<Check> {
  if (PORT === 0) return checkOk('port', 'any free one')
  const error = await tryListen(HOST, PORT)
  if (!error) return checkOk('port', `${PORT} is free`)
  if (error.code === 'EADDRINUSE' && (await isTollgate(HOST, PORT)))
    return checkOk('port', `a Tollgate is running on ${PORT}`)
  return checkFailed('port', failureOf(error).message)
}

const tryListen = (host: string, port: number): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })

// Any web server could answer "ok". Only Tollgate's request ids start with req_.
async function isTollgate(host: string, port: number): Promise<boolean> {
  try {
    const response = await fetch(`${listenUrl(host, port)}/healthz`, {
      signal: AbortSignal.timeout(healthTimeoutMs),
    })
    return (await response.text()) === 'ok' && (response.headers.get('x-request-id') ?? '').startsWith('req_')
  } catch {
    return false
  }
}

// Which tokens open the operator pages. They are never open without one.
export function checkOperatorPages(config: Config): Check[] {
  const support = config.TOLLGATE_SUPPORT_TOKEN ? 'TOLLGATE_SUPPORT_TOKEN' : "this installation's own token"
  const metrics = config.TOLLGATE_METRICS_TOKEN ? `TOLLGATE_METRICS_TOKEN or ${support}` : support
  return [
    checkOk('support', `/support and /inbox need ${support}; tollgate support link opens them in a browser`),
    checkOk('metrics', `/metrics needs ${metrics} as a bearer token`),
  ]
}

export function checkNotificationEgress(config: Config): Check[] {
  const { TOLLGATE_EGRESS_ADDRESS: from, TOLLGATE_EGRESS_PROXY: proxy } = config
  if (isForeign(from))
    return [
      checkFailed(
        'egress',
        `${from} is not an address of this machine`,
        'Correct or remove TOLLGATE_EGRESS_ADDRESS: no notification can be sent.',
      ),
    ]
  const route = [from && `from ${from}`, proxy && `through the proxy ${new URL(proxy).host}`].filter(Boolean)
  return allChecks(
    route.length > 0 && checkOk('egress', `notifications are sent ${route.join(', ')}`),
    config.TOLLGATE_EGRESS_LOOPBACK && !config.isForThisMachineOnly && loopbackWarning,
  )
}

export function checkProviderEgress({ TOLLGATE_PROVIDER_EGRESS_ADDRESS: from }: Config): Check | undefined {
  if (!isForeign(from)) return undefined
  const todo = 'Correct or remove TOLLGATE_PROVIDER_EGRESS_ADDRESS: no provider can be reached.'
  return checkFailed('egress', `${from} is not an address of this machine`, todo)
}

const isForeign = (address: string | undefined) =>
  address !== undefined &&
  !Object.values(networkInterfaces()).some(own => own?.some(one => one.address === address))

const loopbackWarning = checkWarning(
  'egress',
  'merchants may send notifications to addresses of this machine, although the gateway is reachable from others',
  'Remove TOLLGATE_EGRESS_LOOPBACK, unless every merchant is yours.',
)

const dayMs = 86_400_000
const manyTries = 20 // in a day: fewer may be from one person
const mostCounted = 1000 // per merchant

// Failed tries are limited by client address. Behind a proxy that is not configured, all customers have the same address
// and share one limit.
export async function checkPayers(db: Db, config: Config, now: Date): Promise<Check | undefined> {
  if (config.isForThisMachineOnly) return undefined
  const since = firstReferenceAt(new Date(now.getTime() - dayMs))
  const busy = await countPayers(db, since, manyTries, mostCounted)
  if (busy.length === 0) return undefined
  if (busy.some(({ payers }) => payers > 1)) return checkOk('customers', 'they come from different addresses')
  const tries = busy.reduce((sum, merchant) => sum + merchant.tries, 0)
  return checkWarning(
    'customers',
    `all ${tries >= mostCounted ? 'the' : tries} tries to pay of the last day seem to come from one address`,
    'A proxy in front of Tollgate hides the addresses of customers, so they share one limit of failures: set ' +
      `TOLLGATE_TRUST_PROXY to the number of proxies (it is ${config.TOLLGATE_TRUST_PROXY}).`,
  )
}
