import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/security.md', 'utf8')

// Each threat is a heading of level three with a list of its tests: `file`: title. The page writes … for what a table of
// tests fills in.
const threats = page
  .split(/^(?=##? )/m)
  .flatMap(chapter => chapter.split(/^### /m).slice(1))
  .map(section => {
    const [name = '', ...lines] = section.split('\n')
    return { name, tests: lines.filter(line => line.startsWith('- ')) }
  })

const readTest = (line: string) => /^- `(test\/[\w/.-]+\.test\.ts)`: (.+)$/.exec(line)?.slice(1) ?? [line, '']

// The titles in a file, with … for what is filled in.
function titlesIn(file: string): string[] {
  const source = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const calls =
    /\btest(?:\.\w+)*(?:\(\w+\))?\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/g
  const titles = source.matchAll(calls)
  return [...titles].map(([, single, double, template]) => filled(single ?? double ?? template ?? ''))
}

const filled = (title: string) => title.replace(/%s|\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…')

test('the page has threats, and each has a test', () => {
  expect(threats.length).toBeGreaterThan(20)
  expect(threats.filter(({ tests }) => tests.length === 0)).toEqual([])
})

for (const { name, tests } of threats)
  test(`every test of "${name}" exists`, () => {
    for (const line of tests) {
      const [file = '', title] = readTest(line)
      expect(titlesIn(file), line).toContain(title)
    }
  })

test('no threat names one test twice', () => {
  for (const { name, tests } of threats) expect(new Set(tests).size, name).toBe(tests.length)
})

test('the other pages link to it', () => {
  for (const file of ['README.md', 'ARCHITECTURE.md', 'docs/interface.md'])
    expect(readFileSync(file, 'utf8'), file).toContain('security.md')
})
