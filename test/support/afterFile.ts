import { afterAll } from 'vitest'

// For helpers: what is to be tidied up after the test file that they work for.
const works: (() => unknown)[] = []

export const afterFile = (work: () => unknown) => void works.push(work)

export const tidyUpAfterFile = () =>
  afterAll(async () => {
    for (const work of works.splice(0)) await work()
  })
