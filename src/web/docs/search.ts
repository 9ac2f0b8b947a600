import type { DocPage } from './library.ts'
import { plainInline } from './markdown/inline.ts'
import { plainBlock } from './markdown/render.ts'

// A part of a page under one heading: what a search finds.
export type Section = { page: string; title: string; path: string; text: string; weight?: number }

export type Found = Section & { snippet: readonly SnippetPart[] }
export type SnippetPart = { text: string; isMatch: boolean }

const maxQueryLength = 100
const maxWords = 8
const maxResults = 20
const snippetLength = 220

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

export const wordsOf = (query: string) =>
  [
    ...new Set(
      query
        .slice(0, maxQueryLength)
        .toLowerCase()
        .match(/[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*/gu) ?? [],
    ),
  ].slice(0, maxWords)

// Sections that contain every word, the best first. A word counts most in the heading, then in the title of the page,
// then by how often it occurs. Words match from their beginning, so that "sign" finds "signature".
export function searchSections(sections: readonly Section[], query: string): Found[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const phrase = words.join(' ')
  return sections
    .map(section => ({ section, score: scoreOf(section, words, phrase) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, maxResults)
    .map(({ section }) => ({ ...section, snippet: snippetOf(section, words) }))
}

function scoreOf(
  { page, title, text, weight = 1 }: Section,
  words: readonly string[],
  phrase: string,
): number {
  const [lowTitle, lowPage, lowText] = [title.toLowerCase(), page.toLowerCase(), text.toLowerCase()]
  let score = 0
  for (const word of words) {
    const inText = countFrom(lowText, word)
    const found =
      (isWhole(lowTitle, word) ? 40 : startsIn(lowTitle, word) ? 25 : 0) +
      (startsIn(lowPage, word) ? 8 : 0) +
      Math.min(inText, 5) * 2
    if (found === 0) return 0
    score += found
  }
  if (words.length > 1 && lowTitle.includes(phrase)) score += 40
  if (words.length > 1 && lowText.includes(phrase)) score += 15
  return score * weight
}

const isWordChar = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char)

// The positions at which a word of the text begins with this one.
function* startsOf(text: string, word: string) {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length))
    if (!isWordChar(text[at - 1])) yield at
}

const startsIn = (text: string, word: string) => startsOf(text, word).next().done === false

const isWhole = (text: string, word: string) =>
  [...startsOf(text, word)].some(at => !isWordChar(text[at + word.length]))

function countFrom(text: string, word: string): number {
  let count = 0
  for (const _ of startsOf(text, word)) if (++count === 5) break
  return count
}

// The text around the first match, with the matches marked.
function snippetOf({ text }: Section, words: readonly string[]): SnippetPart[] {
  const flat = text.replace(/\s+/g, ' ').trim()
  const low = flat.toLowerCase()
  const first = Math.min(...words.map(word => startsOf(low, word).next().value ?? Number.MAX_SAFE_INTEGER))
  const wanted = first === Number.MAX_SAFE_INTEGER ? 0 : Math.max(0, first - 60)
  const from = wanted === 0 ? 0 : flat.indexOf(' ', wanted) + 1
  const shown = flat.slice(from, from + snippetLength)
  const end = from + snippetLength < flat.length ? shown.lastIndexOf(' ') : shown.length
  const cut = shown.slice(0, Math.max(end, 0))
  const parts = markMatches(cut, words)
  if (from > 0) parts.unshift({ text: '… ', isMatch: false })
  if (cut.length < flat.length - from) parts.push({ text: ' …', isMatch: false })
  return parts
}

function markMatches(text: string, words: readonly string[]): SnippetPart[] {
  const low = text.toLowerCase()
  const parts: SnippetPart[] = []
  let at = 0
  while (at < text.length) {
    const next = nextMatch(low, words, at)
    if (!next) break
    if (next.at > at) parts.push({ text: text.slice(at, next.at), isMatch: false })
    parts.push({ text: text.slice(next.at, next.at + next.length), isMatch: true })
    at = next.at + next.length
  }
  return [...parts, { text: text.slice(at), isMatch: false }].filter(part => part.text !== '')
}

function nextMatch(low: string, words: readonly string[], from: number) {
  let best: { at: number; length: number } | undefined
  for (const word of words)
    for (const at of startsOf(low, word))
      if (at >= from) {
        if (!best || at < best.at) best = { at, length: word.length }
        break
      }
  return best
}
