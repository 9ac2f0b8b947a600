import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'
import { freePort } from '../support/deploy/nginx.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { type Link, openLink } from './link.ts'

// A node: a gateway process on a fixed port, which a supervisor starts again whenever it ends, and its own proxy to each
// server of the database.
export type TestedNode = {
  name: string
  url: string
  proxies: readonly PostgresProxy[]
  link?: Link | undefined // between the node and its proxies
  isUp(): boolean
  state(): string // for a report about it
  pid(): number | undefined
  kill(): Promise<void> // SIGKILL
  setClock(shiftMs: number): void
  stop(): Promise<void>
}

const restartMs = 200 // as a supervisor waits after a failed start
const shiftedClock = fileURLToPath(new URL('../support/processes/shiftedClock.mjs', import.meta.url))

export type NodeOptions = {
  name: string
  hosts: readonly string[] // of the database
  env: Record<string, string>
  folder: string
  hasLink: boolean // to the database, if this machine allows it
  note(text: string): void
}

export async function startNode({
  name,
  hosts,
  env,
  folder,
  hasLink,
  note,
}: NodeOptions): Promise<TestedNode> {
  const proxies = await Promise.all(hosts.map(startPostgresProxy))
  const urls = proxies.map(({ url }) => url)
  const link = hasLink ? await openLink(urls, folder) : undefined
  const port = await freePort()
  const clockFile = join(folder, `${name}.clock`)
  const setClock = (shiftMs: number) => writeFileSync(clockFile, String(shiftMs), { mode: 0o644 })
  setClock(0)
  let gateway: GatewayProcess | undefined
  const stopping = new AbortController()
  let isKilled = false
  const start = () =>
    spawnGateway({
      ...env,
      PORT: String(port),
      DATABASE_URL: urlOf(link?.urls ?? urls),
      NODE_OPTIONS: `--import=${shiftedClock}`,
      CLOCK_SHIFT_FILE: clockFile,
    })
  async function supervise(first: GatewayProcess) {
    gateway = first
    while (!stopping.signal.aborted) {
      const running = gateway
      await running?.ended
      gateway = undefined
      if (running && !isKilled && !stopping.signal.aborted)
        note(`${name} ended by itself: ${running.output().slice(-2000)}`)
      isKilled = false
      if (!running) await sleep(restartMs)
      if (!stopping.signal.aborted) gateway = await start().catch(() => undefined) // without a database it may end at its start
    }
    await gateway?.kill('SIGKILL')
  }
  const supervised = supervise(await start())
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    proxies,
    link,
    isUp: () => gateway !== undefined,
    state: () => (gateway ? `it runs: ${gateway.output().slice(-2000)}` : 'it is being started'),
    pid: () => gateway?.child.pid,
    async kill() {
      if (!gateway) return
      isKilled = true
      await gateway.kill('SIGKILL')
    },
    setClock,
    async stop() {
      stopping.abort()
      gateway?.child.kill('SIGCONT')
      await gateway?.kill('SIGKILL')
      await supervised
      await link?.stop()
      for (const proxy of proxies) await proxy.stop()
    },
  }
}

// All hosts, with the role and database of the first.
function urlOf(urls: readonly string[]): string {
  const [first = ''] = urls
  const hosts = urls.map(url => new URL(url).host).join()
  return first.replace(new URL(first).host, hosts)
}
