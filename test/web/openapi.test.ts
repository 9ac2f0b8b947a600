import { isDeepStrictEqual } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Webhook as Standard } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { aliases, parseRequest, presentFields, requestSchema } from '../../src/core/interface/request.ts'
import { recordKeys } from '../../src/core/interface/statusRecord.ts'
import { openapiDocument } from '../../src/web/openapi/document.ts'
import type { Json, ObjectSchema } from '../../src/web/openapi/requestSchema.ts'
import { bodies, codes } from '../../src/web/openapi/schemas.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import {
  type Answer,
  checkStatus,
  newInvoice,
  post,
  send,
  sign,
  signedRequest,
} from '../support/merchant/merchant.ts'
import {
  askFeed,
  feedQuestion,
  feedSignature,
  storeNotification,
} from '../support/deliveries/notifications.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'

type Examples = Record<string, { value: Json }>
type Schema = { $ref?: string; anyOf?: Schema[] }
type Media = { schema: Schema; example?: unknown; examples?: Examples }
type Response = { description: string; headers: Json; content: Record<string, Media> }
type Operation = Json & {
  operationId: string
  summary: string
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response>
}
type Webhook = {
  parameters: { name: string; example: string; schema: { pattern: string } }[]
  requestBody: { content: Record<string, Media> }
}
type Document = {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  webhooks: { paymentStatus: { post: Webhook } }
  components: { schemas: { PaymentRequest: ObjectSchema } }
}

const document: Document = JSON.parse(JSON.stringify(openapiDocument('http://localhost:8080')))
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

// True for one of the schemas, and wholly: what a schema does not name is dropped by parsing, so the two differ.
function expectOneOf(schema: Schema, body: unknown) {
  const byName: Record<string, z.ZodType> = bodies
  const tries = (schema.anyOf ?? [schema]).map(({ $ref = '' }) =>
    byName[$ref.split('/').at(-1) ?? '']?.safeParse(body),
  )
  if (!tries.some(tried => isDeepStrictEqual(tried?.data, body)))
    expect(tries.map(tried => tried?.error?.issues ?? tried?.data)).toBe(body)
}

describe('the document', () => {
  test('is OpenAPI 3.1 and every reference in it resolves', () => {
    expect(document.openapi).toMatch(/^3\.1\./)
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      match => match[1] ?? '',
    )
    expect(references.length).toBeGreaterThan(20)
    for (const reference of new Set(references)) {
      const [, ...steps] = reference.split('/')
      expect(document, reference).toHaveProperty(steps)
    }
    expect(JSON.stringify(document)).not.toMatch(/"\$(id|schema|defs)"/)
  })

  test('is valid by the rules of OpenAPI', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
  })

  test('describes every operation and every response', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { path, method, operation } of operations) {
      expect(operation.operationId, `${method} ${path}`).toMatch(/^[a-z][A-Za-z]+$/)
      expect(operation.summary, path).not.toBe('')
      expect(Object.keys(operation.responses).length, path).toBeGreaterThan(0)
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description, `${path} ${status}`).not.toBe('')
        expect(response.headers, `${path} ${status}`).toHaveProperty('x-request-id')
        if (['429', '503'].includes(status) && path !== '/readyz')
          expect(response.headers, `${path} ${status}`).toHaveProperty('retry-after')
      }
    }
  })

  test('gives an example of every code, and no example that its schema refuses', () => {
    const shown = new Set<string>()
    for (const { operation } of operations) {
      for (const { content } of Object.values(operation.responses)) {
        const { schema, examples = {} } = content['application/json'] ?? { schema: {} }
        for (const [name, { value }] of Object.entries(examples)) {
          expectOneOf(schema, value)
          shown.add(name)
        }
      }
    }
    const ofNoOperation = ['not_found', 'method_not_allowed', 'busy']
    for (const code of codes.filter(name => !ofNoOperation.includes(name))) expect(shown).toContain(code)
  })

  test('has example requests that the parser accepts', () => {
    const { examples = {} } = operations[0]?.operation.requestBody?.content['application/json'] ?? {}
    expect(Object.keys(examples)).toEqual(['checkout', 'direct'])
    for (const { value } of Object.values(examples)) expect(() => parseRequest(value)).not.toThrow()
  })

  test('has every field that the parser reads, and no other', () => {
    const schema = document.components.schemas.PaymentRequest
    expect(Object.keys(schema.properties).sort()).toEqual(
      [...Object.keys(requestSchema.shape), ...Object.keys(aliases)].sort(),
    )
    expect(schema.required).toEqual(['merchant_key', 'invoice_id', 'total'])
    expect(schema.properties.total?.type).toEqual(['string', 'number'])
    expect(schema.properties.generate_checkout_url?.enum).toEqual([true, 'true', '1', 1, '', null])
    expect(schema.properties.extra_outlet?.anyOf).toMatchObject([
      { type: 'string' },
      { type: 'number' },
      { type: 'null' },
    ])
    for (const [name, field] of Object.entries(schema.properties))
      expect(field.description, name).toBeTypeOf('string')
    for (const name of ['generate_checkout_url', 'secure_hash'])
      expect(schema.properties[name]?.description).toMatch(/^Required|\. Required/)
    for (const [alias, name] of Object.entries(aliases))
      expect(presentFields({ [alias]: 'x' })[name]).toBe('x')
  })

  test('describes no key of a flat answer that an invoice_id could hide', () => {
    for (const { shape } of [bodies.StatusAnswer, bodies.FailedCheck])
      for (const key of Object.keys(shape)) expect(recordKeys).toContain(key)
  })

  test('has no default, which generators of clients take for a required field', () => {
    expect(JSON.stringify(document.components)).not.toContain('"default"')
    for (const { operation } of operations)
      expect(JSON.stringify(operation.parameters ?? [])).not.toContain('"default"')
  })

  test('describes the notifications, with an example that is signed correctly', () => {
    const { parameters, requestBody } = document.webhooks.paymentStatus.post
    const headers = Object.fromEntries(parameters.map(({ name, example }) => [name, example]))
    const [{ value } = { value: {} }] = Object.values(requestBody.content['application/json']?.examples ?? {})
    expect(bodies.Notification.parse(value)).toEqual(value)
    const webhook = new Standard('whsec_YW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0IGF0IGFsbCE=')
    const at = new Date(Number(headers['webhook-timestamp']) * 1000)
    expect(webhook.sign(headers['webhook-id'] ?? '', at, JSON.stringify(value))).toBe(
      headers['webhook-signature'],
    )
    for (const { name, example, schema } of parameters)
      expect(example, name).toMatch(new RegExp(schema.pattern))
  })

  test('works the signature through with the known figures', () => {
    const { description } = openapiDocument('').info
    expect(description).toContain('invoice_id=invoice001&merchant_key=demo-merchant&total=25.00')
    expect(description).toContain('6917989e5641c85d49a8f8045e3abd1da701af0d1326a88de0b8ff860ef46583')
    expect(description).toContain('723d7e6b667eb8b40e7691652c7bece18ea8d8400c097b821da1efb21b587cb4')
  })
})

// The document describes this answer: its status, headers, content type and keys.
function expectDescribed(answer: Answer, method: string, path: string, http: number) {
  expect(answer.http).toBe(http)
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  const response = document.paths[path]?.[method]?.responses[http]
  expect(response, `${method} ${path} ${http}`).toBeDefined()
  for (const header of Object.keys(response?.headers ?? {}))
    expect(answer.headers.has(header), header).toBe(true)
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  if (type === '') return
  expect(Object.keys(response?.content ?? {})).toContain(type)
  if (type === 'application/json') expectOneOf(response?.content[type]?.schema ?? {}, answer.body)
}

describe('a running gateway', () => {
  let gateway: TestGateway
  let shop: TestMerchant
  let old: TestMerchant

  beforeAll(async () => {
    gateway = await testGateway()
    shop = await gateway.addMerchant()
    old = await gateway.addMerchant('unsigned_requests=on', 'signed_status_checks=on')
  })
  afterAll(() => gateway.stop())

  const initiation = '/v1/mobile_agents_v2'
  const status = '/v1/gateway/json_status_chk'
  const line = '/v1/gateway/status_chk'

  test('serves the document', async () => {
    const answer = await send(`${gateway.url}/openapi.json`)
    expect(answer.http).toBe(200)
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(openapiDocument(gateway.url))))
  })

  test('answers an initiation as described', async () => {
    const request = signedRequest(shop.test)
    const described = async (body: unknown, http: number, type?: string) =>
      expectDescribed(await post(gateway.url, body, type), 'post', initiation, http)
    await described(request, 200)
    await described(request, 200)
    await described({ ...request, description: 'other' }, 409)
    await described({}, 400)
    await described('{', 400)
    await described(signedRequest(shop.test, { total: '5.001' }), 400)
    await described({ ...request, merchant_key: 'tk_nobody' }, 401)
    await described({ ...request, secure_hash: 'no' }, 401)
    await described(signedRequest(shop.live, { secure_hash: undefined }), 401)
    await described({ ...request, description: 'x'.repeat(70_000) }, 413)
    await described('hello', 415, 'text/plain')
    const wallet = { pymt_instrument: '0241234567', extra_wallet_issuer_hint: 'MTN' }
    await described(signedRequest(shop.test, { ...wallet, generate_checkout_url: undefined }), 200)
    const closed = await gateway.addMerchant()
    await gateway.deactivate(closed.merchant_id)
    await described(signedRequest(closed.test), 403)
    const slow = await gateway.addMerchant('rate_limit=1', 'rate_burst=1')
    await described(signedRequest(slow.test), 200)
    await described(signedRequest(slow.test), 429)
  })

  test('answers a status check as described, in all its forms', async () => {
    const everything = {
      name: 'Ama Serwaa Mensah',
      email: 'a@b.example',
      number: '0241234567',
      extra_table: '7',
    }
    const { invoice_id } = signedRequest(shop.test)
    await post(gateway.url, signedRequest(shop.test, { invoice_id, description: 'Hats', ...everything }))
    const { merchant_key } = shop.test
    const secure_hash = sign(
      old.test.secret_key,
      `invoice_id=${invoice_id}&merchant_key=${old.test.merchant_key}`,
    )
    for (const [http, question] of [
      [200, { merchant_key, invoice_id }],
      [404, { merchant_key, invoice_id: newInvoice() }],
      [404, { merchant_key: 'tk_nobody', invoice_id }],
      [400, { invoice_id }],
      [400, { merchant_key }],
      [401, { merchant_key, invoice_id, secure_hash: 'no' }],
      [401, { merchant_key: old.test.merchant_key, invoice_id }],
      [404, { merchant_key: old.test.merchant_key, invoice_id, secure_hash }],
    ] as [number, Record<string, string>][]) {
      for (const path of [status, '/gateway/json_status_chk', line])
        expectDescribed(await checkStatus(gateway.url, question, path), 'get', path, http)
      for (const path of [status, '/gateway/json_status_chk']) {
        const body = new URLSearchParams(question)
        expectDescribed(await send(gateway.url + path, { method: 'POST', body }), 'post', path, http)
      }
    }
  })

  test('answers a repeated parameter as described', async () => {
    for (const path of [status, '/gateway/json_status_chk']) {
      const answer = await send(`${gateway.url}${path}?invoice_id=a&invoice_id=b`)
      expectDescribed(answer, 'get', path, 400)
    }
  })

  test('answers a request for the events as described', async () => {
    await storeNotification(gateway.db, { merchant_id: shop.merchant_id })
    const asked = feedQuestion(shop.test)
    const right = feedSignature(shop.test, asked)
    const wrongCursor = feedQuestion(shop.test, 'x')
    for (const [http, question, signature] of [
      [200, asked, right],
      [400, {}, right],
      [400, wrongCursor, feedSignature(shop.test, wrongCursor)],
      [401, asked, 'no'],
      [401, asked, undefined],
      [401, { merchant_key: 'tk_nobody' }, right],
    ] as [number, Record<string, string>, string | undefined][])
      expectDescribed(await askFeed(gateway.url, question, signature), 'get', '/v1/events', http)
  })

  test('answers a request for refused requests as described', async () => {
    const { merchant_key, secret_key } = shop.test
    const time = String(Math.floor(Date.now() / 1000))
    const signed = (more: Record<string, string> = {}) => {
      const fields: Record<string, string> = { merchant_key, time, ...more }
      const text = Object.keys(fields)
        .toSorted()
        .map(name => `${name}=${fields[name]}`)
        .join('&')
      return { ...fields, secure_hash: sign(secret_key, text) }
    }
    for (const [http, question] of [
      [401, { ...signed(), secure_hash: 'no' }],
      [401, { merchant_key, time }],
      [401, { ...signed(), merchant_key: 'tk_nobody' }],
      [400, signed({ after: 'x' })],
      [400, { time }],
      [200, signed()],
    ] as [number, Record<string, string>][]) {
      const answer = await send(`${gateway.url}/v1/requests?${new URLSearchParams(question).toString()}`)
      expectDescribed(answer, 'get', '/v1/requests', http)
    }
  })

  test('answers at the older addresses as described', async () => {
    for (const path of ['/gateway', '/gateway/checkout']) {
      const form = new URLSearchParams({
        merchant_key: old.test.merchant_key,
        invoice_id: newInvoice(),
        total: '5',
      })
      const headers = { 'content-type': 'application/json' }
      const json = { method: 'POST', headers, body: JSON.stringify(signedRequest(shop.test)) }
      const html = { headers: { accept: 'text/html' } }
      expectDescribed(await send(`${gateway.url}${path}?${form.toString()}`), 'get', path, 303)
      expectDescribed(await send(gateway.url + path, { method: 'POST', body: form }), 'post', path, 303)
      expectDescribed(await send(gateway.url + path, json), 'post', path, 200)
      expectDescribed(await send(`${gateway.url}${path}?total=5`), 'get', path, 400)
      expectDescribed(await send(`${gateway.url}${path}?total=5`, html), 'get', path, 400)
    }
  })

  test('answers at the root address as described', async () => {
    const nobody = new URLSearchParams({ merchant_key: 'tk_nobody', invoice_id: newInvoice(), total: '5' })
    const form = new URLSearchParams(nobody)
    form.set('merchant_key', old.test.merchant_key)
    expectDescribed(await send(`${gateway.url}/?${form.toString()}`), 'get', '/', 303)
    expectDescribed(await send(`${gateway.url}/`, { method: 'POST', body: form }), 'post', '/', 303)
    expectDescribed(await send(`${gateway.url}/?${nobody.toString()}`), 'get', '/', 401)
    const looked = await send(`${gateway.url}/?total=5`)
    expectDescribed(looked, 'get', '/', looked.http)
  })

  test('shows its pages and its health as described', async () => {
    const { body } = await post(gateway.url, signedRequest(shop.test))
    expectDescribed(await send(body.checkout_url), 'get', '/checkout/{token}', 200)
    expectDescribed(await send(`${gateway.url}/checkout/none`), 'get', '/checkout/{token}', 404)
    for (const accept of ['*/*', 'text/html'])
      expectDescribed(
        await send(`${body.checkout_url}%20`, { headers: { accept } }),
        'get',
        '/checkout/{token}',
        400,
      )
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expectDescribed(await send(gateway.url + path, { headers: asOperator }), 'get', path, 200)
    expectDescribed(await send(`${gateway.url}/metrics`), 'get', '/metrics', 403)
  })

  test('shows the reference without a byte from anywhere else', async () => {
    for (const path of ['/docs', '/docs/api', '/docs/api/initiatePayment']) {
      const page = await send(gateway.url + path)
      expect(page.http).toBe(200)
      const policy = page.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      const sources = policy.split(';').flatMap(rule => rule.trim().split(' ').slice(1))
      for (const source of sources) expect(["'self'", "'none'", "'script'"]).toContain(source)
      const loaded = [...page.text.matchAll(/<(?:link|script|img)[^>]* (?:src|href)="([^"]*)"/g)]
      expect(loaded.length).toBeGreaterThanOrEqual(3)
      for (const [, link = ''] of loaded) {
        expect(link).toMatch(/^\/[^/]/)
        const file = await send(gateway.url + link)
        expect(file.http, link).toBe(200)
        expect(file.text).not.toMatch(/@import|url\(/)
      }
    }
  })

  test('the reference has a page for every operation, with samples in four languages', async () => {
    for (const { operation } of operations) {
      const { http, text } = await send(`${gateway.url}/docs/api/${operation.operationId}`)
      expect([operation.operationId, http]).toEqual([operation.operationId, 200])
      for (const language of ['curl', 'Node', 'PHP', 'Python']) expect(text).toContain(`${language}</label>`)
    }
  })
})
