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
  about: string // one sentence in lists of pages, or empty
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

type Listed = [file: string, about: string, label?: string]

// The order of the lists, what each page is about, and a label where the title of the page says too little there. A page in
// docs/ that is missing here is shown under "More".
const order: [title: string, pages: Listed[]][] = [
  [
    'Connect a shop',
    [
      ['docs/quickstart.md', 'From an empty folder to a paid order in fifteen minutes.', 'Quickstart'],
      [
        'docs/interface.md',
        'Every request, notification and rule, with code for curl, Node, PHP and Python.',
      ],
      ['docs/refunds.md', 'Return money to a customer, all of a payment or a part of it.'],
      ['docs/sandbox.md', 'Numbers, cards and totals for every ending.'],
      ['docs/errors.md', 'The cause and the cure of each code.'],
      [
        'docs/developer-commands.md',
        'listen, trigger, refund, clock, exam, sign and requests.',
        'Developer commands',
      ],
      ['docs/sdk.md', 'What the SDKs do for a shop, in all three languages.', 'SDKs'],
      ['sdk/node/README.md', 'For Node, Deno, Bun and Workers.', 'SDK for Node'],
      ['sdk/php/README.md', 'One file, without dependencies.', 'SDK for PHP'],
      ['sdk/python/README.md', 'One module, without dependencies.', 'SDK for Python'],
      ['examples/shop/README.md', 'The demo shop as a program of its own.', 'The example shop'],
    ],
  ],
  [
    'Run it',
    [
      ['README.md', 'What Tollgate is, and the command that starts it.', 'Start it'],
      ['docs/running.md', 'A server for real shops: database, proxy, service, backups, several nodes.'],
      ['docs/database.md', 'Connection poolers and TLS to your own PostgreSQL.'],
      ['docs/backup.md', 'Backups, restores, moving to another database, point-in-time recovery.'],
      [
        'docs/copies.md',
        'Restored and moved databases: what a copy does not do, and how it becomes the real one.',
      ],
      ['docs/deployment.md', 'Files for systemd, proxies, Prometheus, Grafana and containers.'],
      ['docs/dashboard.md', 'Payments, refunds, money, keys and people, in a browser.'],
      ['docs/access.md', 'Who may see and do what on the dashboard.'],
      ['docs/settings.md', 'Every setting with its default.'],
      ['docs/commands.md', 'Every command of the operator.'],
      ['docs/doctor.md', 'Every fault that tollgate doctor finds, and how it looks.'],
      ['docs/watching.md', 'Metrics, alerts, logs, and what to do at night.'],
      ['docs/messengers.md', 'Mail servers and SMS providers.'],
      ['docs/ledger.md', 'What is owed to whom, fees, statements, and how to verify it.'],
      ['docs/archive.md', 'What is stored, how long, and how personal data is removed.'],
      ['docs/growth.md', 'A billion payments, 10,000 a second: which limit comes first.'],
    ],
  ],
  [
    'Take real money',
    [
      ['docs/going-live.md', 'From a test gateway to the first real payment.'],
      ['docs/providers/mtn.md', 'MTN MoMo Collections: account, settings, answers.'],
      ['docs/providers/paystack.md', 'Paystack in Ghana: cards and wallets.'],
    ],
  ],
  [
    'Security',
    [
      ['docs/security.md', 'What can go wrong, what prevents it, and the test that shows it.'],
      ['docs/payment-page-scripts.md', 'Each script on the payment pages, and how it is protected.'],
    ],
  ],
  [
    'Change it',
    [
      ['ARCHITECTURE.md', 'The layers, where to find what, and the words of this code.'],
      ['docs/decisions/README.md', 'Why it is built as it is, one short page each.'],
      ['docs/providers.md', 'How to connect another provider.'],
      ['docs/languages.md', 'How to add a language.'],
      ['docs/figures.md', 'How fast it is, each figure with its command.'],
      ['docs/microseconds.md', 'Where the time of one payment request goes.'],
      ['CONTRIBUTING.md', 'From a clone to passing tests.'],
      ['CHANGELOG.md', 'What changed in each version.'],
    ],
  ],
]

const textFiles = [
  'LICENSE',
  'sdk/php/Tollgate.php',
  'sdk/python/tollgate.py',
  'sdk/vectors.json',
  'examples/shop/shop.js',
  'examples/shop/server.js',
]

// docs/decisions/README.md is /docs/decisions, and sdk/php/README.md is /docs/sdk/php.
export function pathOfFile(file: string): string {
  const name = file.replace(/^docs\//, '').replace(/\.md$/, '')
  return `/docs/${name.replace(/\/README$/, '').toLowerCase()}`
}

// Everything is read at once: a gateway that has dropped its root privileges may not be able to read it later. A file
// that was not packed is left out.
export function readLibrary(): Library {
  const listed = order.map(([title, pages]) => ({ title, pages: pages.flatMap(page => readPage(...page)) }))
  const known = new Set(order.flatMap(([, pages]) => pages.map(([file]) => file)))
  const others = markdownIn('docs').filter(file => !known.has(file))
  const [decisions, more] = [true, false].map(isDecision =>
    others.filter(file => file.startsWith('docs/decisions/') === isDecision).flatMap(file => readPage(file)),
  ) as [DocPage[], DocPage[]]
  const groups = [...listed, { title: 'More', pages: more }].filter(({ pages }) => pages.length > 0)
  return {
    groups,
    pages: [...groups.flatMap(({ pages }) => pages), ...decisions],
    pictures: readFiles(filesIn('docs/pictures')),
    texts: readFiles(textFiles),
  }
}

function readPage(file: string, about = '', label?: string): DocPage[] {
  const url = new URL(file, root)
  if (!existsSync(url)) return []
  const source = readFileSync(url, 'utf8')
  const blocks = parseMarkdown(source)
  const [heading] = blocks.filter(({ kind }) => kind === 'heading')
  const title = heading?.kind === 'heading' ? plainInline(heading.text) : file
  return [{ file, path: pathOfFile(file), title, label: label ?? title, about, source, blocks }]
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
