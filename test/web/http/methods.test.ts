import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openapiDocument } from '../../../src/web/openapi/document.ts'
import { asOperator } from '../../support/gateway/operatorAuth.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
const { paths } = openapiDocument('')

type Asked = { http: number; allow?: string; id?: string; body: string }

// Not fetch, which refuses to send TRACE.
const ask = (method: string, path: string) =>
  new Promise<Asked>((resolve, reject) => {
    const sent = request(gateway.url + path, { method, headers: asOperator }, answer => {
      const { allow, 'x-request-id': id } = answer.headers
      let body = ''
      answer.on('data', chunk => (body += chunk))
      answer.on('end', () => resolve({ http: answer.statusCode ?? 0, allow, id: id as string, body }))
    })
    sent.on('error', reject).end()
  })

async function expectRefused(method: string, path: string, allow: string) {
  const answer = await ask(method, path)
  expect([answer.http, answer.allow], `${method} ${path}`).toEqual([405, allow])
  expect(JSON.parse(answer.body), `${method} ${path}`).toMatchObject({
    success: false,
    status: 'error',
    status_code: 405,
    error: { code: 'method_not_allowed', message: `This address takes ${allow} only.` },
    request_id: answer.id,
  })
}

for (const [path, operations] of Object.entries(paths)) {
  const declared = Object.keys(operations).map(method => method.toUpperCase())
  test(`${path} takes ${declared.join(', ')} as described, and no other method`, async () => {
    const address = path.replaceAll(/\{\w+\}/g, 'x')
    for (const method of methods)
      if (declared.includes(method)) expect((await ask(method, address)).http, method).not.toBe(405)
      else await expectRefused(method, address, declared.join(', '))
  })
}

for (const [path, allow] of [
  ['/docs', 'GET'],
  ['/public/checkout.js', 'GET'],
  ['/checkout/x/pay', 'GET, POST'],
  ['/checkout/x/state', 'GET'],
  ['/support', 'GET'],
  ['/inbox', 'GET'],
] as const) {
  test(`${path}, which is for browsers, answers any other method with Allow: ${allow}`, async () => {
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'TRACE']) await expectRefused(method, path, allow)
  })
}

test('HEAD is taken wherever GET is, and where it is not, it is refused', async () => {
  for (const [path, operations] of Object.entries(paths)) {
    const address = path.replaceAll(/\{\w+\}/g, 'x')
    const { http, allow } = await ask('HEAD', address)
    if (operations.get) expect(http, path).toBe((await ask('GET', address)).http)
    else expect([http, allow], path).toEqual([405, 'POST'])
  }
})

test('an unknown address is not found, whatever the method', async () => {
  for (const method of methods) expect((await ask(method, '/nothing')).http, method).toBe(404)
})
