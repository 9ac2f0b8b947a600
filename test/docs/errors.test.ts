import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLibrary } from '../../src/web/docs/library.ts'
import { errorGuideOf } from '../../src/web/docs/reference/errorGuide.ts'
import { bodies, codes } from '../../src/web/openapi/schemas.ts'

const guide = errorGuideOf(readLibrary())

const sources = readdirSync('src/web', { recursive: true, encoding: 'utf8' })
  .filter(file => /\.tsx?$/.test(file))
  .map(file => readFileSync(join('src/web', file), 'utf8'))

test('the page has every code, with its meaning, cause and cure', () => {
  for (const code of codes) {
    const advice = guide.get(code)
    expect(advice, code).toBeDefined()
    expect(advice?.meaning, code).toMatch(/HTTP \d{3}/)
    expect(advice?.cause, code).not.toBe('')
    expect(advice?.cure, code).not.toBe('')
  }
})

test('also those that only a page of an operator answers', () => {
  const named = sources.flatMap(text =>
    [...text.matchAll(/(?:plainAnswer\(\s*\d+,|refuseProgram\(c, \d+,)\s*'([\w-]+)'/g)].map(
      ([, code]) => code,
    ),
  )
  expect(named.length).toBeGreaterThan(4)
  for (const code of named) expect([...guide.keys()]).toContain(code)
})

test('the example on the page is a real answer', () => {
  const page = readFileSync('docs/errors.md', 'utf8')
  const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? []
  expect(bodies.ErrorBody.parse(JSON.parse(example))).toEqual(JSON.parse(example))
})
