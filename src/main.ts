import type { Logger } from 'pino'
import { createGate } from './actions/gate.ts'
import { type Welcome, welcome } from './actions/welcome.ts'
import type { Config } from './config.ts'
import { type Db, openDb } from './store/db.ts'
import { startEmbedded } from './store/embedded.ts'
import { givenMasterKeys, masterKeysInFile } from './store/masterKeys.ts'
import { masterKeyIdsInUse } from './store/merchants.ts'
import { migrate } from './store/migrate.ts'
import type { MasterKeys } from './store/vault.ts'
import { createApi } from './web/api/api.ts'
import { createApp } from './web/app.ts'
import { createMetrics, watchGate } from './web/metrics.ts'
import { createObserver } from './web/observe.ts'
import { listen } from './web/server.ts'

export type Records = { db: Db; masterKeys: MasterKeys; embedded: boolean; close(): Promise<void> }
export type Role = 'gateway' | 'command'

const commandPoolSize = 2

// The records: any PostgreSQL that DATABASE_URL names, or our own in the data folder.
export async function openRecords(
  config: Config,
  role: Role,
  onLost = (_why: string) => {},
): Promise<Records> {
  const embedded = config.DATABASE_URL ? undefined : await startEmbedded(config.TOLLGATE_DATA_DIR, role)
  embedded?.onExit(onLost)
  const poolSize = role === 'gateway' ? config.TOLLGATE_POOL_SIZE : commandPoolSize
  const db = openDb(embedded?.url ?? (config.DATABASE_URL as string), poolSize)
  const close = async () => {
    await db.end()
    await embedded?.stop()
  }
  try {
    const masterKeys = config.TOLLGATE_MASTER_KEY
      ? givenMasterKeys(config.TOLLGATE_MASTER_KEY)
      : masterKeysInFile(config.TOLLGATE_DATA_DIR)
    return { db, masterKeys, embedded: embedded !== undefined, close }
  } catch (error) {
    await close()
    throw error
  }
}

export class MissingMasterKey extends Error {}

// A node that cannot open the merchants' secrets must not take requests: it would refuse honest ones. Nor may a
// command seal anything: it would be closed to every gateway.
export async function checkMasterKeys({ db, masterKeys }: Records) {
  const unknown = (await masterKeyIdsInUse(db)).find(id => !masterKeys.byId(id))
  if (unknown)
    throw new MissingMasterKey(
      `The secrets in this database are sealed with master key ${unknown}, which this Tollgate does not have. ` +
        'Set TOLLGATE_MASTER_KEY to it, or use the data folder whose master.key holds it.',
    )
}

export type Gateway = {
  url: string
  baseUrl: string
  welcome?: Welcome
  embedded: boolean
  stop(): Promise<void>
}

export type GatewayOptions = {
  log: Logger
  onLost?(why: string): void // the embedded database went away under us
  clock?(): Date
}

export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const { log, onLost, clock = () => new Date() } = options
  const records = await openRecords(config, 'gateway', onLost)
  try {
    const applied = await migrate(records.db)
    if (applied.length > 0) log.info({ applied }, 'migrated')
    await checkMasterKeys(records)
    const metrics = createMetrics()
    const gate = createGate({
      db: records.db,
      masterKeys: records.masterKeys,
      batchRows: config.TOLLGATE_BATCH_ROWS,
      poolSize: config.TOLLGATE_POOL_SIZE,
      clock,
      observeBatch: (kind, rows) => metrics.batchRows.observe({ kind }, rows),
    })
    let baseUrl = config.TOLLGATE_BASE_URL ?? ''
    watchGate(metrics, gate)
    const shared = { gate, baseUrl: () => baseUrl, log, observe: createObserver(metrics, log) }
    const api = createApi({ ...shared, trustedProxies: config.TOLLGATE_TRUST_PROXY })
    const app = createApp({ ...shared, metrics, metricsToken: config.TOLLGATE_METRICS_TOKEN })
    const listening = await listen(api, app, config.HOST, config.PORT)
    const url = `http://${nameOf(config.HOST)}:${listening.port}`
    baseUrl ||= url
    log.info({ port: listening.port, host: config.HOST }, 'listening')
    // After listening: a start that finds its port taken must not use up the one time that a secret is shown.
    const greeting = records.embedded ? await welcome(records.db, records.masterKeys, clock()) : undefined
    const stop = async () => {
      await listening.stop()
      await records.close()
      log.info('stopped')
    }
    return { url, baseUrl, welcome: greeting, embedded: records.embedded, stop }
  } catch (error) {
    await records.close()
    throw error
  }
}

function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
