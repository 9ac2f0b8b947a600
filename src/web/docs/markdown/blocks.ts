import { plainInline } from './inline.ts'

// The subset of Markdown that the pages of this repository use: headings, paragraphs, lists, tables, fenced code and
// pictures. A test renders every page, and finds markup outside of the subset.
export type Block =
  | { kind: 'heading'; level: number; text: string; id: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'table'; head: string[]; rows: string[][] }
  | { kind: 'list'; start?: number; items: Block[][] } // start: an ordered one
  | { kind: 'picture'; src: string; alt: string; width: string }

type Taken = { block: Block; end: number }
type Lines = readonly string[]

// Gives each heading of a page its anchor.
type Anchors = (heading: string) => string

export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.replaceAll('\r', '').split('\n'), uniqueAnchors())
}

function parseBlocks(lines: Lines, anchorOf: Anchors): Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at++
      continue
    }
    const { block, end } =
      takeCode(lines, at) ??
      takeHeading(lines, at, anchorOf) ??
      takePicture(lines, at) ??
      takeTable(lines, at) ??
      takeList(lines, at, anchorOf) ??
      takeParagraph(lines, at)
    blocks.push(block)
    at = end
  }
  return blocks
}

const isBlank = (line: string | undefined) => line === undefined || line.trim() === ''

function takeCode(lines: Lines, at: number): Taken | undefined {
  const [, fence, language = ''] = /^(`{3,})(\w*)/.exec(lines[at] ?? '') ?? []
  if (!fence) return undefined
  const end = lines.findIndex((line, index) => index > at && line.startsWith(fence))
  const last = end === -1 ? lines.length : end
  return { block: { kind: 'code', language, text: lines.slice(at + 1, last).join('\n') }, end: last + 1 }
}

function takeHeading(lines: Lines, at: number, anchorOf: Anchors): Taken | undefined {
  const [, marks, text] = /^(#{1,6}) +(.+?) *#*$/.exec(lines[at] ?? '') ?? []
  if (!marks || !text) return undefined
  return { block: { kind: 'heading', level: marks.length, text, id: anchorOf(text) }, end: at + 1 }
}

function takePicture(lines: Lines, at: number): Taken | undefined {
  const [tag] = /^<img [^>]*>$/.exec((lines[at] ?? '').trim()) ?? []
  if (!tag) return undefined
  const valueOf = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  const block = {
    kind: 'picture',
    src: valueOf('src'),
    alt: valueOf('alt'),
    width: valueOf('width'),
  } as const
  return { block, end: at + 1 }
}

const isTableRule = (line = '') => /^\|(?: *:?-+:? *\|)+ *$/.test(line)

function takeTable(lines: Lines, at: number): Taken | undefined {
  if (!lines[at]?.startsWith('|') || !isTableRule(lines[at + 1])) return undefined
  let end = at + 2
  while (lines[end]?.startsWith('|')) end++
  const head = cellsOf(lines[at])
  const rows = lines.slice(at + 2, end).map(line => cellsOf(line))
  return { block: { kind: 'table', head, rows }, end }
}

// A bar with a backslash before it is a part of the cell, in code too.
const cellsOf = (line: string) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map(cell => cell.replaceAll('\\|', '|').trim())

const marker = /^( *)(?:[-*]|(\d{1,4})\.) +/

// An item ends where the next one begins, or at text that is not indented. Its lines are blocks again.
function takeList(lines: Lines, at: number, anchorOf: Anchors): Taken | undefined {
  const [first, indent = '', number] = marker.exec(lines[at] ?? '') ?? []
  if (first === undefined) return undefined
  const items: string[][] = []
  let end = at
  for (; end < lines.length; end++) {
    const line = lines[end] as string
    const [mark, itsIndent, itsNumber] = marker.exec(line) ?? []
    if (mark !== undefined && itsIndent === indent && (itsNumber === undefined) === (number === undefined))
      items.push([line.slice(mark.length)])
    else if (isBlank(line)) items.at(-1)?.push('')
    else if (line.startsWith(`${indent}  `) || !isBlank(lines[end - 1]))
      items.at(-1)?.push(withoutIndent(line, first.length))
    else break
  }
  const block: Block = { kind: 'list', items: items.map(item => parseBlocks(item, anchorOf)) }
  if (number !== undefined) block.start = Number(number)
  return { block, end }
}

const withoutIndent = (line: string, most: number) => {
  const spaces = line.length - line.trimStart().length
  return line.slice(Math.min(spaces, most))
}

const startsBlock = (lines: Lines, at: number) =>
  /^(?:#{1,6} |`{3}|<img )/.test(lines[at] ?? '') ||
  marker.test(lines[at] ?? '') ||
  isTableRule(lines[at + 1])

function takeParagraph(lines: Lines, at: number): Taken {
  let end = at + 1
  while (!isBlank(lines[end]) && !startsBlock(lines, end)) end++
  const text = lines
    .slice(at, end)
    .map(line => line.trim())
    .join(' ')
  return { block: { kind: 'paragraph', text }, end }
}

// The anchors that GitHub gives, so that a link works on both.
function uniqueAnchors(): Anchors {
  const used = new Map<string, number>()
  return heading => {
    const plain = anchorOfHeading(heading)
    const count = used.get(plain) ?? 0
    used.set(plain, count + 1)
    return count === 0 ? plain : `${plain}-${count}`
  }
}

export const anchorOfHeading = (heading: string) =>
  plainInline(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
