import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Env } from './context.ts'
import { publicFile } from './publicFile.ts'

// The interactive reference. Everything comes from here, and what a developer types goes nowhere else.
export function docsRoutes() {
  const folder = new URL(
    './',
    pathToFileURL(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
  )
  const routes = new Hono<Env>()
  routes.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"], // Swagger UI sets style attributes
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
      strictTransportSecurity: false,
    }),
  )
  routes.get('/', c => c.html(page))
  routes.get('/start.js', c => c.body(start, 200, { 'content-type': 'text/javascript; charset=utf-8' }))
  routes.get('/:file', publicFile(folder, ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']))
  return routes
}

// The two rules make it fit a phone; the column that the second one hides is always empty.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate interface</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>
.swagger-ui code { overflow-wrap: anywhere }
.swagger-ui .response-col_links { display: none }
</style>
</head>
<body>
<div id="reference"></div>
<noscript><p>The description itself is at <a href="/openapi.json">/openapi.json</a>.</p></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

// What is tried out goes to the gateway that serves the page, by whatever name the page was opened: the policy
// above allows no other.
const start = `if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')
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
