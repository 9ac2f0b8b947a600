import type { Runtime } from '../../runtime/runtime.ts'

// What it takes to ask a provider and to keep what it says.
export type PaymentDeps = Pick<Runtime, 'db' | 'providerAccounts' | 'baseUrl' | 'clock' | 'watch' | 'wake'>
