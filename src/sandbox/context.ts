import type { HttpBindings } from '@hono/node-server'
import type { Db } from '../store/db.ts'
import type { Callbacks } from './callbacks.ts'

// What every room of the simulated provider shares.
export type SandboxContext = {
  db: Db
  clock: () => Date
  key: string
  formKey: Buffer
  baseUrl: string
  pace: number
  callbacks: Callbacks
}

export type SandboxEnv = { Bindings: HttpBindings }
