import { expect, test } from 'vitest'
import { readLibrary } from '../../../src/web/docs/library.ts'
import { indexSections, searchIndex, sectionsOf, wordsOf } from '../../../src/web/docs/search.ts'

const index = indexSections(readLibrary().pages.flatMap(page => sectionsOf(page)))

for (const [query, path] of [
  ['GW-010', '/docs/errors#gw-010'],
  ['safe retries', '/docs/interface#safe-retries'],
  ['event feed', '/docs/interface#event-feed'],
  ['test phone', '/docs/sandbox#the-test-phone'],
  ['handleNotification', '/docs/sdk/node#handlenotification'],
] as const)
  test(`"${query}" finds ${path} among the first three`, () => {
    const found = searchIndex(index, query).slice(0, 3)
    expect(found.map(section => section.path)).toContain(path)
  })

test('a section has all of the words, and the snippet marks them', () => {
  const [first] = searchIndex(index, 'voucher telecel')
  const text = first?.snippet.map(part => part.text).join('') ?? ''
  const marked = first?.snippet.filter(part => part.isMatch).map(part => part.text.toLowerCase())
  expect(text.length).toBeLessThan(260)
  expect(marked?.length).toBeGreaterThan(0)
  for (const word of marked ?? []) expect(['voucher', 'telecel']).toContain(word)
})

test('words match from their beginning, in any letter case', () => {
  expect(searchIndex(index, 'SIGNAT').length).toBeGreaterThan(3)
  expect(searchIndex(index, 'ignature')).toEqual([])
  expect(searchIndex(index, 'zebra signature')).toEqual([])
})

test('of a query only the first words are searched', () => {
  expect(wordsOf('  !? ')).toEqual([])
  expect(wordsOf('a '.repeat(1000) + 'b')).toEqual(['a'])
  expect(wordsOf('a b c d e f g h i j')).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
})
