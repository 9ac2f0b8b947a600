import { raw } from '../../core/markup/jsx-runtime.ts'
import { PageFrame } from '../../core/markup/page.tsx'

const title = 'Tollgate interface'

// The rules make Swagger UI fit a phone. The column that the second one hides is always empty.
const fitPhone = `
.swagger-ui code { overflow-wrap: anywhere }
.swagger-ui .response-col_links { display: none }
`

// The interactive reference of the API. Its script chooses the colours, so the browser must not.
export const DocsPage = () => (
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
        The description itself is at <a href="/openapi.json">/openapi.json</a>.
      </p>
    </noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </PageFrame>
)

// The same address without the files of Swagger UI.
export const PlainDocsPage = () => (
  <PageFrame lang="en" title={title} isListed styles={[]}>
    <p>
      The interface is described at <a href="/openapi.json">/openapi.json</a>, for any program that reads
      OpenAPI.
    </p>
    <p>
      To try it out on this page, Tollgate has to be built with its development packages: run{' '}
      <code>npm ci</code> in its folder and start it again.
    </p>
  </PageFrame>
)
