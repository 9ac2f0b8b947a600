import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allDocuments } from '../../../src/web/docs/allDocuments.tsx'
import { readLibrary } from '../../../src/web/docs/library.ts'
import { createDocuments } from '../../../src/web/documents/documents.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { type Answer, post, send } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

const addresses = ({ text }: Answer) =>
  [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link)

const read = new Map<string, Promise<Answer>>()
function get(path: string): Promise<Answer> {
  const found = read.get(path) ?? send(gateway.url + path)
  read.set(path, found)
  return found
}

// Every page that can be reached by links from the start.
async function allPages(): Promise<Map<string, Answer>> {
  const pages = new Map<string, Answer>()
  async function walk(path: string) {
    if (pages.has(path) || !path.startsWith('/docs')) return
    const answer = await get(path)
    pages.set(path, answer)
    if (!answer.headers.get('content-type')?.startsWith('text/html')) return
    for (const link of addresses(answer)) await walk(link.split('#')[0] ?? '')
  }
  await walk('/docs')
  return pages
}

test('every link on every page leads to an answer, and every anchor to a heading', async () => {
  const pages = await allPages()
  expect(pages.size).toBeGreaterThan(80)
  const broken: string[] = []
  for (const [path, page] of pages) {
    expect([path, page.http]).toEqual([path, 200])
    for (const link of page.headers.get('content-type')?.startsWith('text/html') ? addresses(page) : []) {
      const [file = '', anchor] = link.split('#')
      if (/^https?:/.test(link) || (file !== '' && !file.startsWith('/docs'))) continue
      const target = pages.get(file || path)
      if (!target || (anchor && !target.text.includes(` id="${anchor}"`))) broken.push(`${path}: ${link}`)
    }
  }
  expect(broken).toEqual([])
})

test('every page of the repository that is packed is shown, and nothing else of it', async () => {
  const pages = await allPages()
  for (const { path } of readLibrary().pages) expect([...pages.keys()]).toContain(path)
  for (const path of [
    '/docs/nothing',
    '/docs/files/package.json',
    '/docs/../package.json',
    '/docs/pictures/x.png',
  ])
    expect([path, (await send(gateway.url + path)).http]).toEqual([
      path,
      expect.toSatisfy((http: number) => http >= 400),
    ])
})

test('no page has markup that was not rendered', async () => {
  for (const [path, { text, headers }] of await allPages()) {
    if (!headers.get('content-type')?.startsWith('text/html')) continue
    const prose = text.replace(/<code>[^]*?<\/code>|<pre[^]*?<\/pre>/g, '')
    expect([path, /\*\*|\]\(|&lt;img|^\|/m.exec(prose)?.[0]]).toEqual([path, undefined])
  }
})

test('every file that the pages need is packed with the program', () => {
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] }
  const isPacked = (file: string) =>
    /^(README\.md|LICENSE)$/.test(file) || files.some(one => file === one || file.startsWith(`${one}/`))
  const { pages, texts } = readLibrary()
  const needed = [...pages.map(({ file }) => file), ...texts.keys()]
  expect(needed.filter(file => !existsSync(file) || !isPacked(file))).toEqual([])
})

test('the policy allows nothing from elsewhere and nothing inline', async () => {
  for (const path of ['/docs', '/docs/interface', '/docs/api', '/docs/api/initiatePayment', '/docs?q=hash']) {
    const page = await get(path)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|data:|https?:|\*/)
    expect(page.text).not.toMatch(/<style|<script>|\sstyle="|\son\w+="/)
  }
})

test('the search is on the page itself, and its words are harmless', async () => {
  const found = await get('/docs?q=signature+hexadecimal')
  expect(found.text).toContain('<mark>signature</mark>')
  expect(addresses(found)).toContain('/docs/interface#sign-and-send')
  const evil = await get(`/docs?q=${encodeURIComponent('<script>x</script>')}`)
  expect(evil.http).toBe(200)
  expect(evil.text).not.toContain('<script>x')
  expect(evil.text).toContain('&lt;script&gt;x')
  expect((await get('/docs?q=')).text).toContain('<h1>Documentation</h1>')
})

test('beyond the limit a search is refused, and the pages still open', async () => {
  const documents = createDocuments({
    documents: allDocuments(() => gateway.url, { hasSandbox: true, isForThisMachineOnly: true }),
    baseUrl: () => gateway.url,
    isOverloaded: () => false,
    mayMakeFor: () => false,
    observe: () => {},
  })
  const server = createServer((incoming, outgoing) => void documents(incoming, outgoing)).listen(0)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { http, headers } = await send(`${url}/docs?q=hash`)
  expect([http, headers.get('retry-after')]).toEqual([503, '5'])
  expect((await send(`${url}/docs`)).http).toBe(200)
  server.close()
})

test('a page that has not changed is not sent again', async () => {
  const first = await get('/docs/sandbox')
  const etag = first.headers.get('etag') ?? ''
  const again = await send(`${gateway.url}/docs/sandbox`, { headers: { 'if-none-match': etag } })
  expect([again.http, again.text]).toEqual([304, ''])
  const other = await send(`${gateway.url}/docs/sandbox`, { headers: { 'if-none-match': 'W/"x"' } })
  expect(other.http).toBe(200)
})

test('a page is there as Markdown too', async () => {
  const { text, headers } = await get('/docs/sandbox.md')
  expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(text).toBe(readFileSync('docs/sandbox.md', 'utf8'))
})

test('the guide for language models has the rules, the codes and addresses that exist', async () => {
  const { text } = await get('/llms.txt')
  expect(text).toContain('6917989e5641c85d49a8f8045e3abd1da701af0d1326a88de0b8ff860ef46583')
  expect(text).toContain('GW-010')
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
  expect(links.length).toBeGreaterThan(15)
  for (const link of links) expect([link, (await send(link)).http]).toEqual([link, 200])
})

test('the address in an error answer leads to the section about its code', async () => {
  const refused = [
    await post(gateway.url, {}),
    await send(`${gateway.url}/nothing`),
    await send(`${gateway.url}/openapi.json`, { method: 'POST' }),
    await send(`${gateway.url}/support`, { headers: { accept: 'application/json' } }),
  ]
  for (const { body } of refused) {
    const { code, doc_url } = body.error as { code: string; doc_url: string }
    expect(doc_url).toBe(`${gateway.url}/docs/errors#${code.toLowerCase()}`)
    const { text } = await get('/docs/errors')
    expect(text).toContain(` id="${code.toLowerCase()}"`)
  }
})
