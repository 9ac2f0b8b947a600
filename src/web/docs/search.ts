import type { DocPage } from './library.ts'
import { plainInline } from './markdown/inline.ts'
import { plainBlock } from './markdown/render.ts'
import { type SnippetPart, snippetOf } from './snippet.ts'

// A part of a page under one heading: what a search finds.
export type Section = { page: string; title: string; path: string; text: string; weight?: number }

export type Found = Section & { snippet: readonly SnippetPart[] }

const maxQueryLength = 100
const maxWords = 8
export const maxResults = 20
const maxCounted = 5

export function sectionsOf({ title: page, path, blocks }: DocPage): Section[] {
  const sections: Section[] = []
  let current: Section = { page, title: page, path, text: '' }
  for (const block of blocks) {
    if (block.kind !== 'heading') current.text += `${plainBlock(block)}\n`
    else if (block.level > 1) {
      sections.push(current)
      current = { page, title: plainInline(block.text), path: `${path}#${block.id}`, text: '' }
    }
  }
  return [...sections, current]
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

export const wordsOf = (query: string) =>
  [...new Set(wordsIn(query.slice(0, maxQueryLength)))].slice(0, maxWords)

// The points of each section for one word of the vocabulary.
type Points = Map<Section, number>

export type SearchIndex = {
  vocabulary: ReadonlyMap<string, Points>
  plain: ReadonlyMap<Section, { title: string; text: string }> // words with one space between them, for phrases
}

// A word counts most in the heading, then in the title of the page, then by how often it occurs. The index is made once:
// a search then reads the vocabulary and not the texts, because nobody has to sign in to search.
export function indexSections(sections: readonly Section[]): SearchIndex {
  const vocabulary = new Map<string, Points>()
  const plain: Map<Section, { title: string; text: string }> = new Map()
  const add = (word: string, section: Section, points: number) => {
    const entry: Points = vocabulary.get(word) ?? new Map()
    entry.set(section, (entry.get(section) ?? 0) + points)
    vocabulary.set(word, entry)
  }
  for (const section of sections) {
    const [titleWords, textWords] = [wordsIn(section.title), wordsIn(section.text)]
    plain.set(section, { title: titleWords.join(' '), text: textWords.join(' ') })
    for (const word of new Set(titleWords)) add(word, section, 30)
    for (const word of new Set(wordsIn(section.page))) add(word, section, 8)
    const counts = new Map<string, number>()
    for (const word of textWords) counts.set(word, (counts.get(word) ?? 0) + 1)
    for (const [word, count] of counts) add(word, section, Math.min(count, maxCounted) * 2)
  }
  return { vocabulary, plain }
}

// Sections that contain every word, the best first. Words match from their beginning, so that "sign" finds "signature";
// a whole word is worth more.
export function searchIndex(index: SearchIndex, query: string): Found[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const [first = new Map(), ...others] = words.map(word => pointsFor(index, word))
  const scores: [Section, number][] = []
  for (const [section, points] of first) {
    const rest = others.map(one => one.get(section) ?? 0)
    if (rest.every(value => value > 0))
      scores.push([section, rest.reduce((sum, value) => sum + value, points) * (section.weight ?? 1)])
  }
  return scores
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 2 * maxResults)
    .map(([section, score]) => [section, score + phrasePoints(index, section, words)] as const)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, maxResults)
    .map(([section]) => ({ ...section, snippet: snippetOf(section.text, words) }))
}

function pointsFor({ vocabulary }: SearchIndex, wanted: string): Points {
  const sum: Points = new Map()
  const isShort = wanted.length < 2 // a single letter begins too many words
  for (const [word, points] of vocabulary) {
    if (isShort ? word !== wanted : !word.startsWith(wanted)) continue
    const share = word === wanted ? 1 : 0.6
    for (const [section, value] of points) sum.set(section, Math.max(sum.get(section) ?? 0, value * share))
  }
  return sum
}

function phrasePoints({ plain }: SearchIndex, section: Section, words: readonly string[]): number {
  if (words.length < 2) return 0
  const phrase = words.join(' ')
  const { title = '', text = '' } = plain.get(section) ?? {}
  return ((title.includes(phrase) ? 40 : 0) + (text.includes(phrase) ? 15 : 0)) * (section.weight ?? 1)
}
