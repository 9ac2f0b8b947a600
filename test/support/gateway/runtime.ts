import { providerAccountsOf } from '../../../src/runtime/providerAccounts.ts'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/runtime/runtime.ts'

// The runtime that actions need, without a server, and with defaults for what a test does not set.
export function testRuntime(
  options: Pick<RuntimeOptions, 'db' | 'masterKeys'> & Partial<RuntimeOptions>,
): Runtime {
  return createRuntime({
    batchRows: 256,
    poolSize: 10,
    providerAccounts: providerAccountsOf(new Map()),
    formKey: Buffer.alloc(32, 7),
    baseUrl: () => 'http://pay.example',
    clock: () => new Date(),
    watch: () => {},
    wake: () => {},
    observeBatch: () => {},
    ...options,
  })
}
