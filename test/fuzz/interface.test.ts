import { testOperations } from './operations.ts'

// A short look at every run; `npm run fuzz` looks for long.
testOperations({ runs: 25, seed: 20_261, timeoutMs: 60_000 })
