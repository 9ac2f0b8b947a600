import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { focusOrder } from '../support/browser/focus.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'

declare const document: any // the functions given to evaluate() run in the browser

let browser: TestBrowser
let site: Site

beforeAll(async () => {
  site = await sampleSite()
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  site.stop()
})

async function visit(path: string, options?: CustomerOptions) {
  const customer = await browser.newCustomer(options)
  onTestFinished(() => customer.close())
  await customer.page.goto(site.url + path)
  return customer
}

describe('a customer', () => {
  for (const [scripts, said] of [
    [true, ['Scripts are on']],
    [false, ['Scripts are off', 'Turn them on']],
  ] as const) {
    test(`with scripts ${scripts} reads ${said.join(', ')}`, async () => {
      const { page, faults } = await visit('/scripted', { scripts })
      expect(await page.locator('p').filter({ visible: true }).allTextContents()).toEqual(said)
      expect(faults).toEqual([])
    })
  }

  for (const [options, query] of [
    [{}, '(width: 360px) and (prefers-color-scheme: light) and (prefers-reduced-motion: no-preference)'],
    [{ dark: true }, '(prefers-color-scheme: dark)'],
    [{ reducedMotion: true }, '(prefers-reduced-motion: reduce)'],
    [{ width: 1280, height: 800 }, '(width: 1280px) and (height: 800px) and (hover: hover)'],
  ] as const) {
    test(`${JSON.stringify(options)} has ${query}`, async () => {
      const { page } = await visit('/clean', options)
      expect(await page.evaluate(`matchMedia('${query}').matches`)).toBe(true)
    })
  }

  test('is dark if the page allows it', async () => {
    const { page } = await visit('/clean', { dark: true })
    expect(await page.evaluate("getComputedStyle(document.querySelector('h1')).color")).toBe(
      'rgb(255, 255, 255)',
    )
  })

  test('sends the language', async () => {
    const { page } = await visit('/clean', { locale: 'fr-FR' })
    expect(await page.evaluate('navigator.language')).toBe('fr-FR')
  })

  test('has fonts for the letters of Ghana and France', async () => {
    const { page } = await visit('/clean')
    expect(await page.evaluate(boxes, [...'GH₵ɛɔƐƆ•✓éèêàçœ…€'])).toEqual([])
    expect(await page.evaluate(boxes, ['\u{10FFFD}'])).toHaveLength(1) // the box itself is known
  })

  test('takes a screenshot', async () => {
    const { shoot } = await visit('/clean', { dark: true })
    const path = await shoot('harness')
    onTestFinished(() => rm(path))
    expect(path).toMatch(/screenshots\/harness-phone-dark\.png$/)
    expect((await readFile(path)).readUInt32BE(16)).toBe(360) // wide, as the page counts
  })
})

describe('the record', () => {
  test('counts the transferred bytes', async () => {
    const customer = await visit('/filled')
    const [page] = await customer.requests()
    expect(page).toMatchObject({ method: 'GET', url: `${site.url}/filled`, type: 'document', status: 200 })
    expect(page?.bytes).toBeGreaterThan(300)
    expect(page?.bytes).toBeLessThan(filler.length / 10)
    expect((await customer.requests()).map(({ type }) => type)).toEqual(['document', 'stylesheet'])
    expect(await customer.weight()).toBeGreaterThan(page?.bytes ?? 0)
    expect(await customer.origins()).toEqual([site.url])
    expect(customer.faults).toEqual([])
  })

  for (const [path, ...told] of [
    ['/clean'],
    ['/outside', /^outside: GET https:\/\/cdn\.example\/pixel\.png$/],
    ['/missing', /^failed: 404 .*\/none\.js$/],
    ['/styled', /^csp: .*inline style/],
    ['/noisy', /^console: oh$/, /^dialog: alert hello$/, /^csp: .*TrustedHTML/, /^error: .*TrustedHTML/],
  ] as const) {
    test(`${path} has ${told.length} faults`, async () => {
      const customer = await visit(path)
      await customer.requests()
      expect(customer.faults).toEqual(told.map(fault => expect.stringMatching(fault)))
    })
  }
})

for (const scripts of [true, false]) {
  describe(`an inspection of the page with scripts ${scripts ? 'on' : 'off'}`, () => {
    for (const [path, ...told] of [
      ['/clean'],
      ['/unlabelled', /^label at #lonely: /],
      ['/pale', /^color-contrast at #dim: .*contrast of 2\.32/],
    ] as const) {
      test(`axe finds ${told.length} faults on ${path}`, async () => {
        const { page, faults } = await visit(path, { scripts })
        expect(await axeFaults(page)).toEqual(told.map(fault => expect.stringMatching(fault)))
        expect(faults).toEqual([]) // axe itself leaves no trace
      })
    }

    test('finds elements that are too wide or too small', async () => {
      const { page } = await visit('/wide', { scripts })
      expect(await overflow(page)).toBe(true)
      await page.goto(`${site.url}/small`)
      expect(await overflow(page)).toBe(false)
      expect(await smallTargets(page)).toEqual(['button "x" 20x20', 'input "box" 20x20'])
    })

    test('finds the focus order', async () => {
      const { page } = await visit('/keys', { scripts })
      expect(await focusOrder(page)).toEqual([
        { role: 'button', name: 'First', outlined: true },
        { role: 'link', name: 'Second', outlined: false },
        { role: 'textbox', name: 'Third', outlined: true },
        { role: 'radio', name: 'Fourth', outlined: true },
      ])
    })
  })
}

// The letters that are rendered empty, or as the box for a missing glyph.
function boxes(letters: string[]): string[] {
  const [blank, box, ...drawn] = [' ', '\u{10FFFE}', ...letters].map((letter): string => {
    const canvas = document.createElement('canvas')
    const context = canvas.getContext('2d')
    context.font = '40px system-ui'
    context.fillText(letter, 5, 45)
    return canvas.toDataURL()
  })
  return letters.filter((_, index) => drawn[index] === blank || drawn[index] === box)
}

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
const filler = '<p>All is well.</p>'.repeat(1000) // shrinks well

// The content of the page at each path.
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

type Site = { url: string; stop(): void }

// A small site with the same policy as the checkout, and a page for each kind of fault.
async function sampleSite(): Promise<Site> {
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
  // The page that loads from another site has no policy, which would block the request before the network.
  if (url !== '/outside') response.setHeader('content-security-policy', policy)
  response.setHeader('content-type', `${type}; charset=utf-8`)
  response.setHeader('content-encoding', 'gzip')
  response.end(gzipSync(type === 'text/html' ? html : text))
}
