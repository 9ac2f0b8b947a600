import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const markdownIn = (folder: string) =>
  readdirSync(folder)
    .filter(name => name.endsWith('.md'))
    .map(name => join(folder, name))

export const documents = [
  ...['.', 'docs', 'docs/decisions', 'docs/providers'].flatMap(markdownIn),
  ...['sdk', 'examples'].flatMap(folder =>
    readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .flatMap(({ name }) => markdownIn(join(folder, name))),
  ),
]

export type Block = { heading: string; language: string; code: string }

// The fenced blocks of a document, each with the heading above it. A block in a list is indented.
export function blocksOf(file: string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  let open: (Block & { indent: string }) | undefined
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, indent = '', language = ''] = /^( *)```(\w*)$/.exec(line) ?? []
    if (open && line.trim() === '```') {
      blocks.push({ heading: open.heading, language: open.language, code: open.code })
      open = undefined
    } else if (open) open.code += `${line.slice(open.indent.length)}\n`
    else if (/^ *```/.test(line)) open = { heading, language, code: '', indent }
    else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '')
  }
  return blocks
}

export const codeUnder = (file: string, heading: string, at = 0) =>
  blocksOf(file).filter(block => block.heading === heading)[at]?.code ?? ''
