import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createBodyQuota } from '../../../src/runtime/bodyQuota.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import { type BodySender, readFields } from '../../../src/web/http/body.ts'
import { isRefusal } from '../../../src/web/http/errors.ts'

// The body reader behind a real socket. The clock of the rate limits is stopped, so no token is refilled.
let runtime: BodySender['runtime']
beforeEach(() => {
  runtime = { limits: createRateLimits(() => 0), bodies: createBodyQuota(() => performance.now()) }
})

const server = createServer((incoming, outgoing) => {
  readFields(incoming, { runtime, address: String(incoming.headers['x-address']) }).then(
    ({ fields }) => outgoing.end(JSON.stringify({ http: 200, fields })),
    (error: unknown) => {
      const { http, message } = isRefusal(error) ? error : { http: 500, message: String(error) }
      outgoing.end(JSON.stringify({ http, message }))
    },
  )
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => server.close())

async function send(type: string, body: string | Buffer, address = '192.0.2.1') {
  const headers = { 'content-type': type, 'x-address': address }
  const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) })
  return (await answer.json()) as { http: number; message: string }
}

const form = '--x\r\nContent-Disposition: form-data; name="total"\r\n\r\n1\r\n--x--\r\n'
const multipart = 'multipart/form-data; boundary=x'
const urlencoded = 'application/x-www-form-urlencoded'
const json = 'application/json'

describe('a body that cannot be read', () => {
  for (const [what, type, body, http] of [
    ['broken multipart', multipart, '--x', 400],
    ['a file', multipart, form.replace('"total"', '"total"; filename="a"'), 400],
    ['a boundary that is too long', `${multipart}${'b'.repeat(70)}`, form, 400],
    ['broken JSON', json, '{"total":', 400],
    ['JSON with a key twice', json, '{"total":"1","total":"1"}', 400],
    ['no UTF-8', urlencoded, Buffer.from('total=\xff', 'latin1'), 400],
    ['a form field with two values', urlencoded, 'total=1&total=2', 400],
    ['a form of 1,001 fields', urlencoded, 'a=1&'.repeat(1000) + 'a=1', 400],
    ['another type', 'text/plain', 'total=1', 415],
  ] as const)
    test(`${what}: a failed lookup, of which an address has a hundred, then 429`, async () => {
      const seen: Record<number, number> = {}
      for (let n = 0; n < 110; n++) {
        const answer = await send(type, body)
        seen[answer.http] = (seen[answer.http] ?? 0) + 1
      }
      expect(seen).toEqual({ [http]: 100, 429: 10 })
      expect((await send(type, body, '192.0.2.2')).http).toBe(http)
    })
})

test('a body that can be read is none', async () => {
  for (let n = 0; n < 110; n++) expect((await send(multipart, form)).http).toBe(200)
})

test('an address that is out of failed lookups: its multipart is not parsed, JSON and other forms are', async () => {
  for (let n = 0; n < 100; n++) runtime.limits.failedLookup('192.0.2.1')
  const fault = 'the boundary has more than 70 characters' // of the parser, which would say so
  const long = `${multipart}${'b'.repeat(70)}`
  expect(await send(long, form)).toMatchObject({ http: 429, message: expect.not.stringContaining(fault) })
  expect(await send(long, form, '192.0.2.2')).toMatchObject({
    http: 400,
    message: expect.stringContaining(fault),
  })
  expect((await send(multipart, form)).http).toBe(429)
  expect((await send(multipart, form, '192.0.2.2')).http).toBe(200)
  expect((await send(json, '{"total":"1"}')).http).toBe(200)
  expect((await send(multipart, '{"total":"1"}')).http).toBe(200) // JSON of a wrong type
  expect((await send(urlencoded, 'total=1')).http).toBe(200)
})

test('a form of 1,000 fields is read', async () => {
  const pairs = Array.from({ length: 1000 }, (_, at) => `f${at}=1`)
  expect((await send(urlencoded, pairs.join('&'))).http).toBe(200)
})
