import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import type { Db } from '../store/db.ts'

type SandboxDeps = { db: Db; clock(): Date; formKey: Buffer; baseUrl: string; pace?: number; log: Logger }

// Test payments are played by a provider of our own, which the provider finds at our own address. The key is made anew
// at each start: nobody else has to know it.
export function openSandbox({ TOLLGATE_SANDBOX }: Config, url: string, deps: SandboxDeps) {
  if (!TOLLGATE_SANDBOX) return undefined
  const key = randomBytes(24).toString('hex')
  const { app, stop } = createSandbox({ ...deps, key })
  return { app, stop, settings: { SANDBOX_URL: url, SANDBOX_KEY: key } }
}
