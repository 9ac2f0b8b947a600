import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'
import { dial, get } from '../support/gateway/rawHttp.ts'

const large = '/docs/large'
const makeLarge = () => Buffer.alloc(1_500_000, 'large ')
const smallBytes = 4_000_000 // eight copies of it would be three times as much

// Eight answers must be larger than the buffers of a socket, and no document of the gateway is that large.
vi.mock('../../src/web/docs/allDocuments.tsx', async importOriginal => {
  const { allDocuments } = await importOriginal<typeof import('../../src/web/docs/allDocuments.tsx')>()
  return {
    allDocuments: (...options: Parameters<typeof allDocuments>) =>
      allDocuments(...options).set(large, { route: large, type: 'text/plain', make: makeLarge }),
  }
})

let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

const workedOn = (route: string) => gateway.logs.filter(line => line.includes(`"route":"${route}"`)).length

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

// Without garbage, such as the answers that this test has read before.
function bytesHeld(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

test('400 requests for a large document on one socket: eight answers, a refusal, and no copy of it', async () => {
  await send(gateway.url + large, { method: 'HEAD' }) // it is encoded once
  const before = workedOn(large)
  const held = bytesHeld()
  const client = await dial(gateway.url)
  client.socket.pause()
  client.socket.write(get(large).repeat(400))
  await expect.poll(() => workedOn(large) - before).toBeGreaterThanOrEqual(8)
  await send(`${gateway.url}/healthz`)
  expect(bytesHeld() - held).toBeLessThan(smallBytes)
  client.socket.resume()
  await client.ended
  const statuses = client.answers().map(({ http }) => http)
  expect(statuses).toEqual([...Array.from({ length: 8 }, () => 200), 429])
  expect(client.answers().at(-1)?.closes).toBe(true)
  expect(client.heard()).toContain('"code":"GW-060"')
  expect(client.errors).toEqual([])
  expect(workedOn(large) - before).toBe(8)
})

test('1,000 requests for the reference on one socket: the next client waits for eight at most', async () => {
  const client = await dial(gateway.url)
  const other = await dial(gateway.url)
  const before = workedOn('/openapi.json')
  client.socket.write(get('/openapi.json').repeat(1000))
  other.socket.write(get('/healthz', 'connection: close'))
  await other.ended
  expect(workedOn('/openapi.json') - before).toBeLessThanOrEqual(8)
  expect(other.answers()).toEqual([{ http: 200, closes: true }])
  await client.ended
  expect(workedOn('/openapi.json') - before).toBe(8)
})

test('eight at a time are served, again and again', async () => {
  const client = await dial(gateway.url)
  for (let round = 1; round <= 20; round++) {
    client.socket.write(get('/healthz').repeat(8))
    await expect.poll(() => client.answers().length).toBe(round * 8)
  }
  expect(client.answers().every(({ http, closes }) => http === 200 && !closes)).toBe(true)
  client.socket.destroy()
})
