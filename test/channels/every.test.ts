import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (file: string) => readFileSync(file, 'utf8')

test('every channel is held against the conformance suite', () => {
  const channels = readdirSync('src/channels').filter(name => name.endsWith('.ts')) // each file is one
  const untested = channels.filter(file => {
    const tests = `test/channels/${file.replace(/\.ts$/, '.test.ts')}`
    return !existsSync(tests) || !/^conformance\(/m.test(read(tests))
  })
  expect(channels).toContain('sandbox.ts')
  expect(untested).toEqual([])
})
