import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { pino } from 'pino'
import { onboard, type Onboarded } from '../../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { readConfig } from '../../../src/config.ts'
import { type GatewayOptions, startGateway } from '../../../src/main.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { setActive } from '../../../src/store/merchants/merchants.ts'
import type { MasterKeys } from '../../../src/store/merchants/vault.ts'
import { type FreshDatabase, migratedDatabase } from '../database/database.ts'
import { operatorToken } from './operatorAuth.ts'

export type Credentials = { merchant_key: string; secret_key: string; ipn_secret: string }
export type TestMerchant = Onboarded & { test: Credentials; live: Credentials }

export type TestGateway = {
  url: string
  databaseUrl: string
  db: Db
  masterKeys: MasterKeys
  logs: string[]
  addMerchant(...settings: string[]): Promise<TestMerchant>
  supportLink(): Promise<string>
  deactivate(merchant_id: string): Promise<unknown>
  stop(): Promise<void>
}

// A whole gateway inside the test process, on its own database.
export async function testGateway(
  env: Record<string, string> = {},
  options: Partial<GatewayOptions> = {},
  given?: FreshDatabase,
): Promise<TestGateway> {
  const database = given ?? (await migratedDatabase())
  const key = env.TOLLGATE_MASTER_KEY ? Buffer.from(env.TOLLGATE_MASTER_KEY, 'hex') : randomBytes(32)
  const logs: string[] = []
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY: key.toString('hex'),
    TOLLGATE_SUPPORT_TOKEN: operatorToken,
    ...env,
  })
  // Milliseconds since 1970 could contain the digits of a phone number, for which tests search the log.
  const timestamp = pino.stdTimeFunctions.isoTime
  const log = pino({ level: 'debug', timestamp }, { write: line => void logs.push(line) })
  const gateway = await startGateway(config, { log, isOverloaded: () => false, ...options })
  const db = openDb(database.url, 2)
  const masterKeys = givenMasterKeys(config.TOLLGATE_MASTER_KEY ?? [key])
  return {
    url: gateway.url,
    databaseUrl: database.url,
    db,
    masterKeys,
    logs,
    async addMerchant(...settings) {
      const merchant = (await onboard(
        db,
        masterKeys,
        'Ama Shop',
        ['test', 'live'],
        new Date(),
      )) as TestMerchant
      const changed = await setMerchant(db, merchant.merchant_id, settings)
      if (changed?.faults.length) throw new Error(changed.faults.join('; '))
      return merchant
    },
    supportLink: async () => (await gateway.makeSupportLink()).link,
    deactivate: merchant_id => setActive(db, merchant_id, false),
    async stop() {
      await gateway.stop()
      await db.end()
      await database.drop()
    },
  }
}

export type GatewayProcess = {
  child: ChildProcess
  url: string
  output(): string
  ended: Promise<unknown>
  kill(signal: NodeJS.Signals): Promise<void>
}

// The real program in a separate process, started as `tollgate start --json`. The folder may have another release.
export async function spawnGateway(
  env: Record<string, string>,
  folder = '.',
  user?: { uid: number; gid: number },
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, ['bin/tollgate.js', 'start', '--json'], {
    ...user,
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      TOLLGATE_STOP_SECONDS: '0',
      TOLLGATE_SUPPORT_TOKEN: operatorToken,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let stdout = ''
  child.stderr.on('data', chunk => (output += chunk))
  child.stdout.on('data', chunk => ((output += chunk), (stdout += chunk)))
  const exited = once(child, 'close') // all output has been read
  while (!stdout.includes('\n')) {
    const ended = await Promise.race([exited, once(child.stdout, 'data').then(() => undefined)])
    if (ended) throw new Error(`the gateway ended with ${ended[0] ?? ended[1]}: ${output}`)
  }
  const { url } = JSON.parse(stdout.slice(0, stdout.indexOf('\n'))) as { url: string }
  return {
    child,
    url,
    output: () => output,
    ended: exited,
    async kill(signal) {
      child.kill(signal)
      await exited
    },
  }
}
