import { jsx, written } from '../../../core/markup/jsx-runtime.ts'
import { Icon } from '../../../core/markup/page.tsx'
import type { Block } from './blocks.ts'
import { inlineHtml, type LinkTarget, plainInline } from './inline.ts'

export type RenderOptions = { targetOf: LinkTarget; topLevel?: number }

// Blocks as HTML, in the classes of the design. Styles and scripts are in files, so there is no attribute with either.
export const renderBlocks = (blocks: readonly Block[], options: RenderOptions): string =>
  blocks.map(block => renderBlock(block, options)).join('\n')

function renderBlock(block: Block, options: RenderOptions): string {
  const inline = (text: string) => inlineHtml(text, options.targetOf)
  if (block.kind === 'heading') return headingHtml(block, options)
  if (block.kind === 'paragraph') return `<p>${inline(block.text)}</p>`
  if (block.kind === 'code') return codeHtml(block.text, block.language)
  if (block.kind === 'table') return tableHtml(block, inline)
  if (block.kind === 'list') return listHtml(block, options)
  const source = options.targetOf(block.src)
  return source === undefined
    ? `<p>${written(block.alt)}</p>`
    : `<p class="picture-frame"><img src="${written(source)}" alt="${written(block.alt)}" loading="lazy"></p>`
}

type OfKind<Kind> = Extract<Block, { kind: Kind }>

function headingHtml({ level, text, id }: OfKind<'heading'>, { targetOf, topLevel = 1 }: RenderOptions) {
  const tag = `h${Math.min(6, level + topLevel - 1)}`
  const title = inlineHtml(text, targetOf)
  if (level === 1) return `<${tag} id="${id}">${title}</${tag}>`
  const name = written(`Link to ${plainInline(text)}`)
  return `<${tag} id="${id}">${title} <a class="anchor" href="#${id}" aria-label="${name}">#</a></${tag}>`
}

// The region can get the focus, so that the keyboard can scroll it. The script /public/copy.js shows the button.
export function codeHtml(text: string, language = '', label = ''): string {
  const name = label || languageNames[language] || 'Example'
  return (
    `<div class="code"><pre tabindex="0" role="group" aria-label="${written(name)}"><code>${written(text)}</code></pre>` +
    `${copyButton}</div>`
  )
}

const copyButton = written(
  jsx('button', {
    type: 'button',
    class: 'btn plain small copy',
    'data-copied': 'Copied',
    hidden: true,
    children: [Icon({ name: 'copy' }), 'Copy'],
  }),
)

const languageNames: Record<string, string> = {
  sh: 'Shell',
  js: 'JavaScript',
  ts: 'TypeScript',
  json: 'JSON',
  php: 'PHP',
  python: 'Python',
  sql: 'SQL',
  yaml: 'YAML',
  console: 'Terminal',
}

// A phone shows each row as a block, with the title of the column before each cell. CSS that changes the display of a
// table removes its meaning for screen readers, so the roles are written out.
function tableHtml({ head, rows }: OfKind<'table'>, inline: (text: string) => string): string {
  const hasTitles = head.some(title => title !== '')
  const titles = head
    .map(title =>
      title === '' ? '<td role="cell"></td>' : `<th role="columnheader" scope="col">${inline(title)}</th>`,
    )
    .join('')
  const body = rows.map(row => {
    const cells = row.map((cell, at) => {
      const label = written(plainInline(head[at] ?? ''))
      return `<td role="cell"${label && ` data-label="${label}"`}>${inline(cell)}</td>`
    })
    return `<tr role="row">${cells.join('')}</tr>`
  })
  const top = hasTitles ? `<thead role="rowgroup"><tr role="row">${titles}</tr></thead>` : ''
  return `<table class="folds" role="table">${top}<tbody role="rowgroup">${body.join('\n')}</tbody></table>`
}

function listHtml({ start, items }: OfKind<'list'>, options: RenderOptions): string {
  const isTight = items.every(item => item.filter(({ kind }) => kind === 'paragraph').length <= 1)
  const entries = items.map(item => {
    const [first, ...rest] = item
    const html =
      isTight && first?.kind === 'paragraph'
        ? [inlineHtml(first.text, options.targetOf), renderBlocks(rest, options)].filter(Boolean).join('\n')
        : renderBlocks(item, options)
    return `<li>${html}</li>`
  })
  if (start === undefined) return `<ul>${entries.join('\n')}</ul>`
  return `<ol${start === 1 ? '' : ` start="${start}"`}>${entries.join('\n')}</ol>`
}

// The text of a block without markup, for the search and for a first sentence.
export function plainBlock(block: Block): string {
  if (block.kind === 'code') return block.text
  if (block.kind === 'table')
    return [block.head, ...block.rows].map(row => row.map(cell => plainInline(cell)).join(' ')).join('\n')
  if (block.kind === 'list')
    return block.items.map(item => item.map(inner => plainBlock(inner)).join(' ')).join('\n')
  return block.kind === 'picture' ? block.alt : plainInline(block.text)
}
