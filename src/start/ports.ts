import type { Config } from '../config.ts'
import { listenUrl, ownDashboardAddress } from '../core/networkSettings.ts'
import { type Listening, listen } from '../web/server/server.ts'

export type Ports = {
  main: Listening
  dashboard?: Listening // if the dashboard has a port or host of its own
  url: string
  baseUrl: string
  dashboardUrl: string
  announceStop(): void
  stop(): Promise<void>
}

// Opens the port of the gateway, and that of the dashboard if it has its own. A worker node has the addresses of the web
// nodes, which its messages contain, and listens for health checks and metrics only.
export async function openPorts(config: Config): Promise<Ports> {
  const main = await listen(config.HOST, config.PORT)
  const own = ownDashboardAddress(config)
  const dashboard =
    config.TOLLGATE_ROLE !== 'worker' &&
    own &&
    (await listen(own.host, own.port).catch(async (error: unknown) => {
      await main.stop()
      throw error
    }))
  const url = listenUrl(config.HOST, main.port)
  const baseUrl = config.TOLLGATE_BASE_URL ?? url
  const ownUrl =
    own && (config.TOLLGATE_DASHBOARD_URL ?? listenUrl(own.host, dashboard ? dashboard.port : own.port))
  const all = dashboard ? [main, dashboard] : [main]
  return {
    main,
    dashboard: dashboard || undefined,
    url,
    baseUrl,
    dashboardUrl: ownUrl ?? baseUrl,
    announceStop() {
      for (const port of all) port.announceStop()
    },
    async stop() {
      await Promise.all(all.map(port => port.stop()))
    },
  }
}
