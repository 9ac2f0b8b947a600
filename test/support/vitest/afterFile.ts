import { afterAll } from 'vitest'

// For helpers: cleanups that run after the test file that uses them.
const cleanups: (() => unknown)[] = []

export const afterFile = (cleanup: () => unknown) => void cleanups.push(cleanup)

export const tidyUpAfterFile = () =>
  afterAll(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })
