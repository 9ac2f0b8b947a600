import { written } from '../../../core/markup/jsx-runtime.ts'

// The target of a link as it is on this gateway; undefined if the page shows only the text of the link.
export type LinkTarget = (href: string) => string | undefined

// Code, bold, italics, links and escapes. Everything else is text: no HTML passes.
const marks =
  /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*|(?<![\w*])\*([^\s*](?:[^*]*[^\s*])?)\*(?![\w*])|\[((?:`[^`]*`|[^\]`])+)\]\(([^)\s]+)\)|\\([\\`*_[\]|#-])/g

export function inlineHtml(text: string, targetOf: LinkTarget): string {
  let html = ''
  let at = 0
  for (const match of text.matchAll(marks)) {
    html += written(text.slice(at, match.index)) + markHtml(match, targetOf)
    at = match.index + match[0].length
  }
  return html + written(text.slice(at))
}

function markHtml(match: RegExpMatchArray, targetOf: LinkTarget): string {
  const [, , code, bold, italics, label, href, escape] = match
  if (code !== undefined) return `<code>${written(code.trim() || code)}</code>`
  if (bold !== undefined) return `<strong>${inlineHtml(bold, targetOf)}</strong>`
  if (italics !== undefined) return `<em>${inlineHtml(italics, targetOf)}</em>`
  if (label !== undefined && href !== undefined) return linkHtml(label, href, targetOf)
  return written(escape ?? '')
}

function linkHtml(label: string, href: string, targetOf: LinkTarget): string {
  const target = targetOf(href)
  const text = inlineHtml(label, targetOf)
  return target === undefined ? text : `<a href="${written(target)}">${text}</a>`
}

// The text as a reader sees it, for the search.
export const plainInline = (text: string): string =>
  text.replace(
    marks,
    (_, __, code, bold, italics, label, ___, escape) =>
      code ?? escape ?? plainInline(bold ?? italics ?? label ?? ''),
  )
