export type SnippetPart = { text: string; isMatch: boolean }

const snippetLength = 220
const lead = 60 // characters before the first match

// The text around the first match, with the matches marked.
export function snippetOf(text: string, words: readonly string[]): SnippetPart[] {
  const flat = text.replace(/\s+/g, ' ').trim()
  const [first] = matchesIn(flat, words)
  const wanted = Math.max(0, (first?.index ?? 0) - lead)
  const from = wanted === 0 ? 0 : flat.indexOf(' ', wanted) + 1
  const shown = flat.slice(from, from + snippetLength)
  const isCut = from + snippetLength < flat.length
  const cut = isCut ? shown.slice(0, Math.max(shown.lastIndexOf(' '), 0)) : shown
  const parts = markMatches(cut, words)
  if (from > 0) parts.unshift({ text: '… ', isMatch: false })
  if (isCut) parts.push({ text: ' …', isMatch: false })
  return parts
}

// Words that begin with one of these. They have only letters, digits and underscores.
const matchesIn = (text: string, words: readonly string[]) =>
  text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join('|')})`, 'giu'))

function markMatches(text: string, words: readonly string[]): SnippetPart[] {
  const parts: SnippetPart[] = []
  let at = 0
  for (const { index, 0: match } of matchesIn(text, words)) {
    parts.push({ text: text.slice(at, index), isMatch: false }, { text: match, isMatch: true })
    at = index + match.length
  }
  return [...parts, { text: text.slice(at), isMatch: false }].filter(part => part.text !== '')
}
