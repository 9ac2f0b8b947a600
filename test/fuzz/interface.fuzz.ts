import { testOperations } from './operations.ts'

// Another seed each time; FUZZ_SEED repeats one, FUZZ_RUNS asks more or less often.
const { FUZZ_RUNS = '500', FUZZ_SEED = String(Date.now() % 1_000_000) } = process.env
console.log(`FUZZ_SEED=${FUZZ_SEED} repeats these requests.`)
testOperations({ runs: Number(FUZZ_RUNS), seed: Number(FUZZ_SEED), timeoutMs: 1_800_000 })
