import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (file: string) => readFileSync(file, 'utf8')

test('every provider is held against the conformance suite', () => {
  const providers = readdirSync('src/providers').filter(name => name.endsWith('.ts')) // each file is one
  const untested = providers.filter(file => {
    const tests = `test/providers/${file.replace(/\.ts$/, '.test.ts')}`
    return !existsSync(tests) || !/^conformance\(/m.test(read(tests))
  })
  expect(providers).toContain('sandbox.ts')
  expect(untested).toEqual([])
})
