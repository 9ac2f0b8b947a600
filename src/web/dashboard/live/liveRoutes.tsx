import { readFileSync } from 'node:fs'
import { listFailingEndpoints, readLiveView } from '../../../actions/installation/liveView.ts'
import { createSecretsCheck } from '../../../actions/installation/unreadableSecrets.ts'
import type { Mode } from '../../../core/mode.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { OperatorRoute } from '../route.ts'
import { EndpointsPage } from './endpointsTable.tsx'
import { listedAccountsOf } from './listedAccounts.ts'
import { badgesOf } from './accountsTable.tsx'
import { LivePage } from './livePage.tsx'

const script = readFileSync(new URL('./live.js', import.meta.url))

export const liveRoutes = (deps: AreaDeps): OperatorRoute[] => {
  const checkSecrets = createSecretsCheck(deps.masterKeys)
  return [
    {
      method: 'get',
      path: '',
      permission: 'live.view',
      async handle(c, visit) {
        const accounts = listedAccountsOf(deps.providers)
        const mode = chosenMode(c.req.query('mode'), accounts)
        const { runtime } = deps
        const live = await readLiveView(visit.db, {
          mode,
          now: visit.now,
          zone: runtime.timeZone,
          accounts: accounts.filter(one => one.mode === mode),
          takesLivePayments: accounts.some(one => one.mode === 'live' && !one.isDisabled),
          installation: visit.installation,
          unreadable: checkSecrets(visit.db),
        })
        const queue = runtime.payments.depth() + runtime.lookups.depth() + runtime.checkouts.depth()
        return sendDashboardPage(
          c,
          <LivePage
            visit={visit}
            live={live}
            queue={queue}
            zone={runtime.timeZone}
            badges={badgesOf(deps)}
          />,
        )
      },
    },
    {
      method: 'get',
      path: '/endpoints',
      permission: 'live.view',
      async handle(c, visit) {
        const mode = chosenMode(c.req.query('mode'), listedAccountsOf(deps.providers))
        const endpoints = await listFailingEndpoints(visit.db, mode)
        const zone = deps.runtime.timeZone
        return sendDashboardPage(
          c,
          <EndpointsPage visit={visit} mode={mode} endpoints={endpoints} zone={zone} />,
        )
      },
    },
    {
      method: 'get',
      path: '/live.js',
      permission: 'live.view',
      handle: c =>
        c.body(new Uint8Array(script), 200, {
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': 'no-cache',
        }),
    },
  ]
}

// A new installation has accounts for tests only.
const chosenMode = (asked: string | undefined, accounts: readonly { mode: Mode }[]): Mode => {
  if (asked === 'test' || asked === 'live') return asked
  return accounts.some(({ mode }) => mode === 'live') ? 'live' : 'test'
}
