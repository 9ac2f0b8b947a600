import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tooManyRequests } from '../../src/core/interface/refusal.ts'
import { homeRoute, notFoundRoute } from '../../src/web/home.tsx'
import type { Env } from '../../src/web/http/context.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'
import { ask } from '../support/gateway/rawHttp.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

const unknown = [
  '/nothing',
  '/nothing/at/all/',
  '/checkout',
  '/checkout/x/y/z',
  '/favicon.ico',
  '/v2/payments',
]

describe('a program gets the same answer as before', () => {
  for (const accept of [undefined, '*/*', 'application/json'])
    test(`asking for ${accept ?? 'nothing in particular'}`, async () => {
      for (const path of ['/', ...unknown]) {
        const { http, headers, text } = await ask(gateway.url + path, accept ? { accept } : {})
        expect([path, http, headers['content-type']]).toEqual([path, 404, 'application/json'])
        expect(JSON.parse(text)).toMatchObject({
          status_code: 404,
          error: { code: 'not_found' },
          request_id: headers['x-request-id'],
        })
      }
    })
})

test('a browser at an unknown address gets a page with a link', async () => {
  for (const path of unknown) {
    const { http, headers, text } = await ask(gateway.url + path, browser)
    expect([path, http, headers['cache-control']]).toEqual([path, 404, 'no-store'])
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(text).toContain('<h1>There is nothing at this address</h1>')
    expect(text).toContain('href="/?lang=en"')
    expect(text).not.toContain(path === '/checkout' ? 'GHS' : path)
  }
})

test('and so does a person with an address that is badly written', async () => {
  const { http, text } = await ask(gateway.url, browser, '/x/../support%20')
  expect(http).toBe(400)
  expect(text).toContain('There is nothing at this address')
})

test('another method is refused in JSON, as ever', async () => {
  const { http, headers } = await ask(gateway.url, browser, '/', 'DELETE')
  expect([http, headers['content-type']]).toEqual([405, 'application/json'])
})

describe('the address without a path', () => {
  test('explains to a visitor what this is, where a payment is found, and where the documentation is', async () => {
    for (const path of ['/', '/?lang=en', '/?nothing=1']) {
      const { http, headers, text } = await ask(gateway.url, browser, path)
      expect([http, headers['cache-control'], headers['x-frame-options']]).toEqual([200, 'no-store', 'DENY'])
      for (const words of ['A payment gateway', 'Open the link that the shop gave you', 'href="/docs"'])
        expect(text).toContain(words)
      expect(text).not.toMatch(/<script|style=/)
    }
  })

  test('in the language of the browser, or of the query', async () => {
    const french = { ...browser, 'accept-language': 'fr-FR,fr;q=0.9' }
    expect((await ask(gateway.url, french, '/')).text).toContain('Une passerelle de paiement')
    expect((await ask(gateway.url, french, '/?lang=en')).text).toContain('A payment gateway')
    expect((await ask(gateway.url, french, '/rien')).text).toContain('Il n’y a rien à cette adresse')
  })

  test('leads to every page that it names', async () => {
    const { text } = await ask(gateway.url, browser, '/')
    const links = [...text.matchAll(/href="(\/[a-z][^"?]*)"/g)].map(([, path]) => path ?? '')
    expect(links).toEqual(
      expect.arrayContaining(['/docs', '/openapi.json', '/sandbox/phone', '/inbox', '/support']),
    )
    for (const path of links)
      expect([path, (await ask(gateway.url, { ...browser, ...asOperator }, path)).http]).toEqual([path, 200])
  })

  test('names no place that is shut, nor a test phone where there is none', async () => {
    const open = await testGateway({ TOLLGATE_BASE_URL: 'https://pay.example', TOLLGATE_SANDBOX: 'off' })
    const { text } = await ask(open.url, browser, '/')
    await open.stop()
    expect(text).toContain('href="/docs"')
    for (const path of ['/sandbox', '/inbox', '/support']) expect(text).not.toContain(`href="${path}`)
  })

  test('has the same rate limit as the other pages, with a page as its answer', async () => {
    const limits = {
      visit() {
        throw tooManyRequests(2)
      },
    }
    const home = { limits, trustedProxies: 0, hasSandbox: false, isForThisMachineOnly: false }
    const app = new Hono<Env>().get('/', homeRoute(home)).notFound(notFoundRoute(home))
    const env = { incoming: { socket: {}, headers: {} } } as unknown as HttpBindings
    for (const path of ['/', '/nothing']) {
      const answer = await app.request(path, { headers: browser }, env)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2'])
      expect(await answer.text()).toContain('One moment, please')
    }
  })
})
