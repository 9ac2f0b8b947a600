import { readFileSync } from 'node:fs'
import type { SitePlace } from '../../core/markup/page.tsx'
import { type Document, minifyCss, publicFiles, readStyles } from '../documents/documents.ts'
import { htmlType, jsonType, textType } from '../http/apiRequest.ts'
import { openapiDocument } from '../openapi/document.ts'
import { docsHeaders, type DocsSite, referencePath } from './docsFrame.tsx'
import { ArticlePage, DocsStartPage, DocsSearchPage } from './docsPages.tsx'
import { type Library, readLibrary } from './library.ts'
import { llmsText } from './llms.ts'
import { errorGuideOf } from './reference/errorGuide.ts'
import { handlersOf } from './reference/handlers.ts'
import { type ApiDocument, operationsOf } from './reference/operations.ts'
import { OperationPage, operationPath, type Reference, ReferencePage } from './reference/referencePages.tsx'
import { indexSections, searchIndex, type SearchIndex, type Section, sectionsOf } from './search.ts'

const checkoutFiles = publicFiles('/public', new URL('../public/', import.meta.url), undefined, {
  isPartOfCheckout: true,
})
const dashboardFiles = publicFiles('/dashboard/public', new URL('../dashboard/public/', import.meta.url))
const library = readLibrary()
const folder = new URL('./public/', import.meta.url)
const styles = Buffer.from(minifyCss(readStyles(new URL('docs.css', folder))))
const tryScript = readFileSync(new URL('try.js', folder))

type SiteOptions = { hasSandbox?: boolean; isForThisMachineOnly?: boolean }

// All responses that are the same for everybody: the files of the checkout, the OpenAPI document and the documentation.
export function allDocuments(baseUrl: () => string, options: SiteOptions = {}): Map<string, Document> {
  const site: DocsSite = { groups: library.groups, places: placesOf(options) }
  const reference = lazily(() => readReference(baseUrl()))
  const index = lazily(() => indexSections(allSections(library, reference())))
  const described = operationsOf(readApi('')) // the addresses do not depend on that of the gateway
  const generated: Document[] = [
    {
      route: '/openapi.json',
      type: jsonType,
      make: () => Buffer.from(JSON.stringify(openapiDocument(baseUrl()))),
    },
    { route: '/llms.txt', type: textType, make: () => Buffer.from(llmsText(library, baseUrl())) },
    {
      ...page('/docs', () => <DocsStartPage site={site} />),
      makeFor: query => search(new URLSearchParams(query).get('q') ?? '', index, site),
    },
    page(referencePath, () => <ReferencePage site={site} reference={reference()} />),
    { route: '/docs/docs.css', type: 'text/css; charset=utf-8', isFile: true, make: () => styles },
    { route: '/docs/try.js', type: 'text/javascript; charset=utf-8', isFile: true, make: () => tryScript },
  ]
  return new Map([
    ...checkoutFiles,
    ...dashboardFiles,
    ...generated.map(document => [document.route, document] as const),
    ...described.map(({ id }) => {
      const operation = () => reference().operations.find(one => one.id === id)
      const make = () =>
        operation() && <OperationPage site={site} reference={reference()} operation={operation()!} />
      return [operationPath({ id }), page(`${referencePath}/:operation`, make)] as const
    }),
    ...pagesOf(library, site),
    ...filesOf(library),
  ])
}

const placesOf = ({ hasSandbox, isForThisMachineOnly }: SiteOptions): SitePlace[] => [
  'shop',
  ...(hasSandbox ? (['phone'] as const) : []),
  ...(isForThisMachineOnly ? (['inbox', 'support'] as const) : []),
  'docs',
]

const page = (route: string, render: () => unknown): Document => ({
  route,
  type: htmlType,
  headers: docsHeaders,
  make: () => Buffer.from(String(render())),
})

function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}

const readApi = (baseUrl: string): ApiDocument => JSON.parse(JSON.stringify(openapiDocument(baseUrl)))

function readReference(baseUrl: string): Reference {
  const document = readApi(baseUrl)
  const operations = operationsOf(document)
  return { document, operations, guide: errorGuideOf(library), handlers: handlersOf(library) }
}

// A page outranks a design decision, and that an entry of the changelog.
const weights: [start: string, weight: number][] = [
  ['/docs/changelog', 0.3],
  ['/docs/decisions', 0.5],
  ['/docs/security', 0.7],
  ['/docs/errors', 1.3],
  ['/docs/interface', 1.2],
]
const weightOf = (path: string) => weights.find(([start]) => path.startsWith(start))?.[1] ?? 1

const allSections = ({ pages }: Library, { operations }: Reference): Section[] => [
  ...pages.flatMap(one => sectionsOf(one).map(section => ({ ...section, weight: weightOf(one.path) }))),
  ...operations.map(operation => ({
    page: 'API reference',
    title: operation.summary,
    path: operationPath(operation),
    text: `${operation.path} ${operation.description} ${operation.fields.map(({ name }) => name).join(' ')}`,
  })),
]

function search(query: string, index: () => SearchIndex, site: DocsSite): Buffer | undefined {
  const asked = query.trim()
  if (asked === '') return undefined
  const found = searchIndex(index(), asked)
  return Buffer.from(String(<DocsSearchPage site={site} query={asked.slice(0, 100)} found={found} />))
}

const routeOf = (path: string) => (path.split('/').length > 3 ? '/docs/:folder/:page' : '/docs/:page')

// Each page as HTML, and its source for programs.
const pagesOf = (from: Library, site: DocsSite) =>
  from.pages.flatMap(one => {
    const source: Document = {
      route: routeOf(one.path),
      type: 'text/markdown; charset=utf-8',
      headers: docsHeaders,
      make: () => Buffer.from(one.source),
    }
    return [
      [one.path, page(routeOf(one.path), () => <ArticlePage library={from} site={site} page={one} />)],
      [`${one.path}.md`, source],
    ] as const
  })

const pictureTypes: Record<string, string> = { png: 'image/png', svg: 'image/svg+xml' }

const filesOf = ({ pictures, texts }: Library): [string, Document][] => [
  ...[...pictures].map(([file, bytes]): [string, Document] => {
    const name = file.split('/').at(-1) ?? ''
    const type = pictureTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    return [
      `/docs/pictures/${name}`,
      { route: '/docs/pictures/:file', type, headers: docsHeaders, isFile: true, make: () => bytes },
    ]
  }),
  ...[...texts].map(([file, bytes]): [string, Document] => [
    `/docs/files/${file}`,
    { route: '/docs/files/:file', type: textType, headers: docsHeaders, make: () => bytes },
  ]),
]
