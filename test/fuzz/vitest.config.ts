import { defineConfig } from 'vitest/config'

// `npm run fuzz`: for long, and with a fuzzer from outside where there is one.
export default defineConfig({
  test: {
    include: ['test/fuzz/*.fuzz.ts'],
    globalSetup: ['test/support/database.setup.ts'],
    setupFiles: ['test/support/afterFile.setup.ts'],
    provide: { isProof: true },
    hookTimeout: 60_000,
    fileParallelism: false,
    reporters: ['verbose'],
  },
})
