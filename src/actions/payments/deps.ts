import type { Runtime } from '../../runtime/runtime.ts'

// What it takes to ask a provider and to keep what it says.
export type PaymentDeps = Pick<Runtime, 'db' | 'channels' | 'baseUrl' | 'clock' | 'watch' | 'wake'>
