import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { asOperator } from '../../support/gateway/operatorAuth.ts'
import { ask, dial } from '../../support/gateway/rawHttp.ts'
import { post, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let checkout: string // its path
let query: string // of a status check
beforeAll(async () => {
  gateway = await testGateway()
  const { test: keys } = await gateway.addMerchant()
  const request = signedRequest(keys)
  checkout = new URL((await post(gateway.url, request)).body.checkout_url).pathname
  query = new URLSearchParams({ ...keys, invoice_id: request.invoice_id }).toString()
})
afterAll(() => gateway.stop())

// Sends one request unchanged and returns the answer.
async function raw(target: string, host = 'localhost', method = 'GET') {
  const { socket, heard, ended } = await dial(gateway.url)
  socket.write(
    Buffer.from(`${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`, 'latin1'),
  )
  await ended
  const [head = '', text = ''] = heard().split('\r\n\r\n')
  return { http: Number(head.slice(9, 12)), head: head.toLowerCase(), text }
}

const refusal = (text: string) => {
  const body = JSON.parse(text)
  expect(body).toMatchObject({
    success: false,
    status: 'error',
    status_code: 400,
    error: { code: 'GW-012', message: body.message },
    request_id: expect.stringMatching(/^req_/),
  })
  return body
}

async function isRefused(target: string, host?: string, method = 'GET') {
  const { http, head, text } = await raw(target, host, method)
  expect([target, http]).toEqual([target, 400])
  expect(head).toContain('content-type: application/json')
  expect(head).toContain('cache-control: no-store')
  expect(head).toContain('x-content-type-options: nosniff')
  if (method === 'HEAD') return
  expect(head).toContain(`x-request-id: ${refusal(text).request_id}`)
}

// Every address in every spelling that a proxy may read as a different one.
const spellings: [string, (path: string) => string][] = [
  ['a way up', path => `/x/..${path}`],
  ['a way up from itself', path => `${path}/../${path.split('/').at(-1)}`],
  ['here', path => `/.${path}`],
  ['here at the end', path => `${path}/.`],
  ['and back at the end', path => `${path}/x/..`],
  ['a dot encoded', path => `/%2e${path}`],
  ['a way up encoded', path => `/x/%2e%2e${path}`],
  ['a way up half encoded', path => `/x/.%2E${path}`],
  ['a letter encoded', path => path.replace(/[a-z]/, letter => `%${letter.charCodeAt(0).toString(16)}`)],
  [
    'a letter encoded twice',
    path => path.replace(/[a-z]/, letter => `%25${letter.charCodeAt(0).toString(16)}`),
  ],
  ['an encoded slash', path => `/x%2f..${path}`],
  ['an encoded slash in front', path => `/%2f${path.slice(1)}`],
  ['an encoded slash at the end', path => `${path}%2F`],
  ['an encoded question mark', path => `${path}%3fq=1`],
  ['an encoded NUL at the end', path => `${path}%00`],
  ['an encoded space at the end', path => `${path}%20`],
  ['two slashes', path => `/${path}`],
  ['three slashes', path => `//${path}`],
  ['two slashes at the end', path => `${path}//`],
  ['two slashes within', path => path.replace(/(?<=.)\/|$/, '//')],
  ['another host in front', path => `//localhost${path}`],
  ['a backslash in front', path => `\\${path.slice(1)}`],
  ['a backslash after the slash', path => `/\\${path.slice(1)}`],
  ['a way up by backslashes', path => `/x\\..\\${path.slice(1)}`],
  ['a backslash at the end', path => `${path}\\`],
  ['an absolute address', path => `http://localhost${path}`],
  ['an absolute address of another', path => `http://evil.example${path}`],
  ['a secure absolute address', path => `https://localhost${path}`],
  ['a fragment', path => `${path}#x`],
  ['a byte beyond ASCII', path => `${path}\xa0`],
  ['a bracket', path => `${path}[x`],
  ['a broken escape', path => `${path}%`],
  ['a wide letter', path => `${path}%ef%bc%8e`],
]
const doors = () => [
  '/support',
  '/inbox',
  '/metrics',
  '/healthz',
  '/self-check',
  '/docs',
  '/public/checkout.css',
  '/sandbox/phone',
  '/v1/events',
  `/v1/gateway/json_status_chk`,
  '/callbacks/abc',
  checkout,
  '/nothing',
]

for (const [how, spell] of spellings)
  test(`${how} is refused everywhere`, async () => {
    for (const door of doors()) await isRefused(spell(door))
  })

test('with a query, by any method', async () => {
  for (const method of ['POST', 'PUT', 'HEAD', 'DELETE', 'OPTIONS'])
    await isRefused('/x/../support?q=AMA-1', undefined, method)
  await isRefused('*', undefined, 'OPTIONS')
})

test('a Host that brings a path along, or an address in another spelling, is refused', async () => {
  for (const host of [
    'localhost/support?',
    'äaéaãòà/support?', // as long as its name in ASCII, which a framework may take for the same
    'localhost#',
    'localhost\\support',
    'user@localhost',
    'localhost:8080:80',
    'localhost:99999',
    'localhost:',
    '[::1',
    'a b',
    '[::1]x',
    '[0:0::1]',
    '[::ffff:10.0.0.1]',
    '0x7f.1',
    '999.1.1.1',
  ])
    await isRefused('/healthz', host)
})

test('an address for browsers and one for programs answer with the fault', async () => {
  expect(refusal((await raw('/%73upport')).text).message).toContain('not written plainly: no escapes')
  expect(refusal((await raw('/support', 'a b')).text).message).toContain(
    'The Host header is not a plain name',
  )
})

describe('what is plain stays as it was', () => {
  test('a slash at the end, and anything in the query', async () => {
    for (const [path, http] of [
      ['/support/', 200],
      ['/support/?q=', 200],
      ['/support?q=%2e%2e%2f..//%00', 404],
      ['/support?q=/../x', 404],
      ['/inbox?before=2026-03-02T12%3A00%3A00.000Z~m', 200],
      ['/metrics?x=http://y/../z', 200],
      [`/v1/gateway/json_status_chk?${query}`, 200],
      [`/v1/gateway/json_status_chk/?${query}`, 200],
      ['/docs/?x=//', 200],
      ['/public/checkout.css?v=%2f', 200],
    ] as const)
      expect([path, (await ask(gateway.url, asOperator, path)).http]).toEqual([path, http])
  })
  test('a checkout and all that is under it', async () => {
    expect((await ask(gateway.url + checkout)).http).toBe(200)
    for (const path of ['/state', '/qr.svg', '/cancel'])
      expect([path, (await ask(`${gateway.url}${checkout}${path}?lang=fr`)).http]).toEqual([path, 200])
  })
  test('what a provider calls back at', async () =>
    expect((await ask(`${gateway.url}/callbacks/${'0'.repeat(36)}`, {}, undefined, 'POST')).http).toBe(200))
  test('what is not there, with all that an address may hold', async () => {
    const odd = `/(a)'b!c*d,e;f=g:h@i&j$k+l~m`
    for (const path of ['/', '/nothing', '/SUPPORT', '/support.', '/support..', '/.support', '/a...b/c', odd])
      expect([path, (await ask(gateway.url, {}, path)).http]).toEqual([path, 404])
  })
})

test('a customer with a damaged link gets a page in their language', async () => {
  for (const tail of ['%20', '%E2%80%8B', '%0A']) {
    const headers = { accept: 'text/html,*/*', 'accept-language': 'fr' }
    const { http, headers: got, text } = await ask(gateway.url, headers, checkout + tail)
    expect([http, got['content-type']]).toEqual([400, 'text/html; charset=UTF-8'])
    expect(got['content-security-policy']).toContain("default-src 'none'")
    expect(text).toContain('<html lang="fr"')
    expect(text).toContain('Il n’y a pas de paiement à cette adresse')
    expect(got['x-request-id']).toMatch(/^req_/)
  }
})
