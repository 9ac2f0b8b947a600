import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; require-trusted-types-for 'script'"
const style = `
  :root { color-scheme: light dark; font-family: system-ui, sans-serif }
  button, input { min-height: 24px }
  .pale { color: #aaa; background: #fff }
  .bare:focus { outline: none }
  .small { width: 20px; height: 20px; min-height: 0; padding: 0 }
  .card { display: block; padding: 8px }
  .card:has(:focus-visible) { outline: 2px solid green }
  .unseen { position: absolute; width: 1px; height: 1px; min-height: 0; padding: 0; border: 0; clip-path: inset(50%) }
  .wide { width: 900px }`
export const filler = '<p>All is well.</p>'.repeat(1000) // shrinks well

// What stands in the page under each path.
const pages: { [path: string]: string } = {
  '/clean': '<label>Number <input id="n"></label> <button>Pay</button>',
  '/filled': filler,
  '/scripted':
    '<p id="said">Scripts are off</p><noscript><p>Turn them on</p></noscript><script src="/script.js"></script>',
  '/unlabelled': '<input id="lonely">',
  '/pale': '<p class="pale" id="dim">Hard to read</p>',
  '/outside': '<img alt="" src="https://cdn.example/pixel.png">',
  '/missing': '<script src="/none.js"></script>',
  '/keys': `<button>First</button> <a class="bare" href="/clean">Second</a>
    <input aria-label="Third" autofocus> <label class="card"><input class="unseen" type="radio">Fourth</label>`,
  '/small': `<button class="small">x</button> <p>Read the <a href="/clean">terms</a> first.</p>
    <label class="card"><input type="checkbox">Large enough with its label</label>
    <input class="small" type="checkbox" name="box"> <button class="unseen">For the keyboard</button>`,
  '/wide': '<p class="wide">Too wide</p>',
  '/styled': '<p style="color: red">Blocked</p>',
  '/noisy': '<script src="/noise.js"></script>',
}
const files: { [path: string]: [string, string] } = {
  '/style.css': ['text/css', style],
  '/script.js': ['text/javascript', 'document.getElementById("said").textContent = "Scripts are on"'],
  '/noise.js': [
    'text/javascript',
    'console.error("oh"); alert("hello"); document.body.innerHTML = "<p>no</p>"',
  ],
}

export type Site = { url: string; stop(): void }

// A little site under a policy as strict as the checkout's, with a page for each thing that can be wrong.
export async function sampleSite(): Promise<Site> {
  const server = createServer((request, response) => answer(request.url ?? '', response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  return { url: `http://127.0.0.1:${address.port}`, stop: () => server.close() }
}

function answer(url: string, response: ServerResponse) {
  const [type, text] = files[url] ?? ['text/html', pages[url] ?? '']
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
    <meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/style.css"></head>
    <body><main><h1>A page</h1>${text}</main></body></html>`
  response.statusCode = text ? 200 : 404
  // The page that reaches outside has no policy that would stop it before the network does.
  if (url !== '/outside') response.setHeader('content-security-policy', policy)
  response.setHeader('content-type', `${type}; charset=utf-8`)
  response.setHeader('content-encoding', 'gzip')
  response.end(gzipSync(type === 'text/html' ? html : text))
}
