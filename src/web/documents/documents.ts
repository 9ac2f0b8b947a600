import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Observe } from '../../observe/requests.ts'
import { newRequestId } from '../../runtime/ids.ts'
import { type ApiAnswer, sendAnswer, splitUrl } from '../http/apiRequest.ts'
import { plainAnswer, type ErrorContext, wrongMethodAnswer } from '../http/errors.ts'
import type { Answerer } from '../server/server.ts'

const retrySeconds = '5'

// A response that is the same for all clients. It is encoded on the first request, cached and sent without a copy.
export type Document = {
  route: string // its name in logs and metrics
  type: string
  headers?: Record<string, string>
  isFile?: boolean // may be cached
  isPartOfCheckout?: boolean // served under overload too, like the page that needs it
  make(): Buffer
  makeFor?(query: string): Buffer | undefined // instead of make() for some queries; not cached
}

type EncodedDocument = { plain: Buffer; gzip: Buffer; br?: Buffer; digest: string }

type DocumentOptions = {
  documents: ReadonlyMap<string, Document> // by path
  baseUrl(): string
  isOverloaded(): boolean
  mayMakeFor(): boolean // counts one document that is made for a query
  observe: Observe
}

// Serves documents on Node's HTTP server, without Hono. Under overload they are refused, so that payments have
// priority.
export function createDocuments(options: DocumentOptions): Answerer {
  const { documents, baseUrl, isOverloaded, mayMakeFor, observe } = options
  const cache = new Map<Document, EncodedDocument>()

  function encode(document: Document): EncodedDocument {
    const cached = cache.get(document)
    if (cached) return cached
    const plain = document.make()
    const encoded: EncodedDocument = { plain, gzip: gzipSync(plain, { level: 9 }), digest: digestOf(plain) }
    // Brotli is slow, so it is only for the small files that a customer waits for.
    if (document.isPartOfCheckout) encoded.br = brotliCompressSync(plain)
    cache.set(document, encoded)
    return encoded
  }

  function encodeFor(document: Document, query: string): EncodedDocument {
    const plain = query === '' ? undefined : document.makeFor?.(query)
    return plain ? { plain, gzip: gzipSync(plain, { level: 3 }), digest: digestOf(plain) } : encode(document)
  }

  function refusalOf(
    { isPartOfCheckout, makeFor }: Document,
    method: string,
    query: string,
    request: ErrorContext,
  ): ApiAnswer | undefined {
    if (method !== 'GET' && method !== 'HEAD') return wrongMethodAnswer('GET', request)
    if (!isPartOfCheckout && isOverloaded()) return busyAnswer(request)
    return makeFor && query !== '' && !mayMakeFor() ? busyAnswer(request) : undefined
  }

  return (incoming, outgoing) => {
    const { method = '' } = incoming
    const [path, query] = splitUrl(incoming.url ?? '')
    const document = documents.get(path)
    if (!document) return false
    const started = performance.now()
    const requestId = newRequestId()
    const refusal = refusalOf(document, method, query, { requestId, baseUrl: baseUrl() })
    let http = refusal?.http ?? 200
    if (refusal) sendAnswer(outgoing, refusal, requestId)
    else http = sendDocument(incoming, outgoing, document, encodeFor(document, query), query, requestId)
    observe({ requestId, method, route: document.route, http, started })
    return true
  }
}

function sendDocument(
  { headers }: IncomingMessage,
  outgoing: ServerResponse,
  { type, headers: more, isFile }: Document,
  encoded: EncodedDocument,
  query: string,
  requestId: string,
): number {
  const etag = `W/"${encoded.digest}"` // weak: the encodings have different bytes
  const isUnchanged = headers['if-none-match'] === etag
  const encoding = encodingOf(headers['accept-encoding'] ?? '', encoded)
  const bytes = encoded[encoding ?? 'plain'] ?? encoded.plain
  const http = isUnchanged ? 304 : 200
  outgoing.writeHead(http, {
    ...(!isUnchanged && { 'content-type': type, 'content-length': bytes.length }),
    'x-request-id': requestId,
    etag,
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    ...(encoding && !isUnchanged && { 'content-encoding': encoding }),
    ...(isFile && { 'cache-control': cacheControlOf(query, encoded.digest) }),
    ...more,
  })
  outgoing.end(isUnchanged ? undefined : bytes)
  return http
}

function encodingOf(accepted: string, { br }: EncodedDocument): 'br' | 'gzip' | undefined {
  if (br && /\bbr\b/.test(accepted)) return 'br'
  return accepted.includes('gzip') ? 'gzip' : undefined
}

// An address with the right digest never changes its content. Any other address is revalidated, so that no page of a new
// release is shown with a file of the last one.
export const cacheControlOf = (query: string, digest: string) =>
  new URLSearchParams(query).get('v') === digest ? 'public, max-age=31536000, immutable' : 'no-cache'

const busyAnswer = (request: ErrorContext): ApiAnswer => ({
  ...plainAnswer(
    503,
    'busy',
    'The gateway is overloaded, and payments have priority. Try again in a few seconds.',
    request,
  ),
  headers: { 'retry-after': retrySeconds },
})

// The version of a file or document in an address or an ETag.
export const digestOf = (bytes: Buffer) => hash('sha256', bytes, 'hex').slice(0, 10)

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

const sharedStyle = (name: string) => new URL(`../../core/markup/${name}`, import.meta.url)
const base = ['tokens.css', 'base.css'].map(sharedStyle)
const components = sharedStyle('components.css')

const readAll = (files: readonly URL[]) => files.map(file => readFileSync(file, 'utf8')).join('\n')

// The stylesheet of a family of pages, after the tokens and components that all families share.
export const readStyles = (...files: readonly URL[]): string => readAll([...base, components, ...files])

// The same for the checkout, which has to stay light and needs only the first components.
export const readCheckoutStyles = (file: URL): string => withoutUnusedTokens(readAll([...base, file]))

const withoutUnusedTokens = (css: string) =>
  css.replace(/^\s*(--[\w-]+): [^;]+;\n/gm, (line, name: string) =>
    css.includes(`var(${name})`) ? line : '',
  )

// A file of the checkout, minified if it is a stylesheet.
export const readPublicFile = (file: URL): Buffer =>
  file.pathname.endsWith('.css') ? Buffer.from(minifyCss(readCheckoutStyles(file))) : readFileSync(file)

// The files of one folder, by the path at which each is served. They are all read at start: no other file can be
// served, and a gateway that has dropped its root privileges may not be able to read them later.
export const publicFiles = (
  under: string,
  folder: URL,
  names: readonly string[] = readdirSync(folder),
  more: Partial<Document> = {},
): [path: string, Document][] =>
  names.map(name => {
    const bytes = (more.isPartOfCheckout ? readPublicFile : readFileSync)(new URL(name, folder))
    return [
      `${under}/${name}`,
      {
        route: `${under}/:file`,
        type: types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
        isFile: true,
        make: () => bytes,
        ...more,
      },
    ]
  })

// Removes comments and spaces, which are a seventh of the bytes. It does not parse CSS, so no quoted text may contain a
// comment, or a colon before a space.
export const minifyCss = (css: string) =>
  css
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
    .trim()
