import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { type Block, parseMarkdown } from './markdown/blocks.ts'
import { type LinkTarget, plainInline } from './markdown/inline.ts'

// The pages of the documentation: the Markdown files of the repository that are packed with the program.
export type DocPage = {
  file: string // in the repository, such as docs/interface.md
  path: string // on the gateway, such as /docs/interface
  title: string
  label: string // in lists of pages
  source: string
  blocks: readonly Block[]
}

export type PageGroup = { title: string; pages: readonly DocPage[] }

export type Library = {
  groups: readonly PageGroup[]
  pages: readonly DocPage[]
  pictures: ReadonlyMap<string, Buffer> // by their path in the repository
  texts: ReadonlyMap<string, Buffer> // files that pages link to
}

const root = new URL('../../../', import.meta.url)

// The order of the sidebar. A page in docs/ that is not listed is shown under "More".
const order: [title: string, files: string[]][] = [
  [
    'Connect a shop',
    [
      'docs/interface.md',
      'docs/sandbox.md',
      'docs/errors.md',
      'docs/sdk.md',
      'sdk/node/README.md',
      'sdk/php/README.md',
      'sdk/python/README.md',
    ],
  ],
  [
    'Run it',
    [
      'README.md',
      'docs/running.md',
      'docs/settings.md',
      'docs/commands.md',
      'docs/watching.md',
      'docs/messengers.md',
      'docs/archive.md',
    ],
  ],
  ['Take real money', ['docs/going-live.md', 'docs/providers/mtn.md', 'docs/providers/paystack.md']],
  ['Security', ['docs/security.md', 'docs/payment-page-scripts.md']],
  [
    'Change it',
    [
      'ARCHITECTURE.md',
      'docs/decisions/README.md',
      'docs/providers.md',
      'docs/languages.md',
      'docs/figures.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
    ],
  ],
]

// Where the title of a page says too little in a list.
const labels: Partial<Record<string, string>> = {
  'README.md': 'Start it',
  'docs/sdk.md': 'SDKs',
  'sdk/node/README.md': 'SDK for Node',
  'sdk/php/README.md': 'SDK for PHP',
  'sdk/python/README.md': 'SDK for Python',
}

const textFiles = ['LICENSE', 'sdk/php/Tollgate.php', 'sdk/python/tollgate.py', 'sdk/vectors.json']

// docs/decisions/README.md is /docs/decisions, and sdk/php/README.md is /docs/sdk/php.
export function pathOfFile(file: string): string {
  const name = file.replace(/^docs\//, '').replace(/\.md$/, '')
  return `/docs/${name.replace(/\/README$/, '').toLowerCase()}`
}

// Everything is read at once: a gateway that has dropped its root privileges may not be able to read it later. A file
// that was not packed is left out.
export function readLibrary(): Library {
  const listed = order.map(([title, files]) => ({ title, pages: files.flatMap(readPage) }))
  const known = new Set(order.flatMap(([, files]) => files))
  const others = markdownIn('docs').filter(file => !known.has(file))
  const [decisions, more] = [true, false].map(isDecision =>
    others.filter(file => file.startsWith('docs/decisions/') === isDecision).flatMap(readPage),
  ) as [DocPage[], DocPage[]]
  const groups = [...listed, { title: 'More', pages: more }].filter(({ pages }) => pages.length > 0)
  return {
    groups,
    pages: [...groups.flatMap(({ pages }) => pages), ...decisions],
    pictures: readFiles(filesIn('docs/pictures')),
    texts: readFiles(textFiles),
  }
}

function readPage(file: string): DocPage[] {
  const url = new URL(file, root)
  if (!existsSync(url)) return []
  const source = readFileSync(url, 'utf8')
  const blocks = parseMarkdown(source)
  const [heading] = blocks.filter(({ kind }) => kind === 'heading')
  const title = heading?.kind === 'heading' ? plainInline(heading.text) : file
  return [{ file, path: pathOfFile(file), title, label: labels[file] ?? title, source, blocks }]
}

const filesIn = (folder: string): string[] => {
  const url = new URL(`${folder}/`, root)
  if (!existsSync(url)) return []
  return readdirSync(url, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => posix.join(entry.parentPath.slice(new URL('.', root).pathname.length), entry.name))
    .toSorted()
}

const markdownIn = (folder: string) => filesIn(folder).filter(file => file.endsWith('.md'))

const readFiles = (files: readonly string[]) =>
  new Map(
    files
      .map(file => [file, new URL(file, root)] as const)
      .filter(([, url]) => existsSync(url))
      .map(([file, url]) => [file, readFileSync(url)] as const),
  )

// Where the links of a page lead on the gateway. A link to a file that is not served is shown as text.
export function linksOf({ pages, pictures, texts }: Library, from: string): LinkTarget {
  const byFile = new Map(pages.map(({ file, path }) => [file, path]))
  return href => {
    if (/^(?:https?:|mailto:|#)/.test(href)) return href
    const [relative = '', anchor] = href.split('#')
    const file = posix.normalize(posix.join(posix.dirname(from), relative))
    const path = byFile.get(file) ?? byFile.get(posix.join(file, 'README.md'))
    if (path !== undefined) return anchor === undefined ? path : `${path}#${anchor}`
    if (pictures.has(file)) return `/docs/pictures/${posix.basename(file)}`
    return texts.has(file) ? `/docs/files/${file}` : undefined
  }
}
