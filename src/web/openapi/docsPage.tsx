import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { raw } from '../../core/markup/jsx-runtime.ts'
import { PageFrame } from '../../core/markup/page.tsx'
import { type Document, publicFiles } from '../documents/documents.ts'
import { htmlType, jsonType } from '../http/apiRequest.ts'
import { openapiDocument } from './document.ts'

// The page loads only from this origin, and sends a developer's input only to it.
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " + // Swagger UI sets style attributes
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
}

// The files of Swagger UI: in the build output, or in the npm package that the build copies them from. A checkout without
// development packages has neither.
function findSwaggerFolder(): URL | null {
  const built = new URL('./reference/', import.meta.url)
  if (existsSync(built)) return built
  try {
    return new URL('.', pathToFileURL(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')))
  } catch {
    return null
  }
}

const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

const checkoutFiles = publicFiles('/public', new URL('../public/', import.meta.url), undefined, {
  isPartOfCheckout: true,
})
const referenceFolder = findSwaggerFolder()
const referenceFiles = referenceFolder && publicFiles('/docs', referenceFolder, swaggerFiles, { headers })

// All static responses: the files of the checkout, the OpenAPI document and the interactive reference.
export function allDocuments(baseUrl: () => string, reference = referenceFiles): Map<string, Document> {
  const generated: Document[] = [
    {
      route: '/openapi.json',
      type: jsonType,
      make: () => Buffer.from(JSON.stringify(openapiDocument(baseUrl()))),
    },
    {
      route: '/docs',
      type: htmlType,
      headers,
      make: () => Buffer.from(String(reference ? DocsPage() : PlainDocsPage())),
    },
    {
      route: '/docs/start.js',
      type: 'text/javascript; charset=utf-8',
      headers,
      make: () => Buffer.from(startScript),
    },
  ]
  return new Map([
    ...checkoutFiles,
    ...generated.map(document => [document.route, document] as const),
    ...(reference ?? []),
  ])
}

// Requests are sent to the origin of the page, even if it differs from the server in the document, because the policy
// above allows no other origin.
const startScript = `if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: request => {
    request.url = request.url.replace(/^https?:[/][/][^/]+/, location.origin)
    return request
  },
})
`

const title = 'Tollgate interface'

// These rules make Swagger UI fit a phone. The hidden column is always empty.
const fitPhone = `
.swagger-ui code { overflow-wrap: anywhere }
.swagger-ui .response-col_links { display: none }
`

// The interactive reference of the API. Its script chooses the colours, so the browser must not.
const DocsPage = () => (
  <PageFrame
    lang="en"
    title={title}
    isListed
    colorScheme="normal"
    styles={['/docs/swagger-ui.css']}
    head={
      <>
        <link rel="icon" href="/docs/favicon-32x32.png" />
        <style>{raw(fitPhone)}</style>
      </>
    }
  >
    <div id="reference"></div>
    <noscript>
      <p>
        The API is described at <a href="/openapi.json">/openapi.json</a>.
      </p>
    </noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </PageFrame>
)

// The same address without the files of Swagger UI.
const PlainDocsPage = () => (
  <PageFrame lang="en" title={title} isListed styles={[]}>
    <p>
      The API is described at <a href="/openapi.json">/openapi.json</a>, for any program that reads OpenAPI.
    </p>
    <p>
      To try it out on this page, Tollgate has to be built with its development packages: run{' '}
      <code>npm ci</code> in its folder and start it again.
    </p>
  </PageFrame>
)
