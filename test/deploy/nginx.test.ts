import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lacksNginx, startNginx } from '../support/deploy/nginx.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { signedRequest } from '../support/merchant/merchant.ts'

// The shipped file of nginx, with a node that works and one that reads each request and cuts the connection, as a killed
// node does.
const cutPaths: string[] = []
const dying = createServer(socket => {
  socket.on('error', () => {})
  socket.once('data', data => {
    cutPaths.push(data.toString('latin1').split(' ')[1] ?? '')
    socket.destroy()
  })
})
let gateway: TestGateway
let merchant: TestMerchant
let nginx: Awaited<ReturnType<typeof startNginx>>

beforeAll(async () => {
  if (lacksNginx) return
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' })
  merchant = await gateway.addMerchant()
  dying.listen(0, '127.0.0.1')
  await once(dying, 'listening')
  const dyingAddress = `127.0.0.1:${(dying.address() as { port: number }).port}`
  nginx = await startNginx([dyingAddress, gateway.url.slice('http://'.length)])
})
afterAll(async () => {
  if (lacksNginx) return
  await nginx.stop()
  dying.close()
  await gateway.stop()
})

// A node that has failed gets no requests for two seconds.
async function untilDyingIsAsked(method: string, path: string, body: () => string | undefined) {
  const before = cutPaths.length
  const answers: number[] = []
  while (cutPaths.length === before) {
    answers.push((await nginx.ask(method, path, body())).http)
    if (answers.length % 4 === 0) await sleep(500)
  }
  return answers
}

const paymentRequest = () => JSON.stringify(signedRequest(merchant.test))

test.skipIf(lacksNginx)('a payment request survives the death of a node, and is stored once', async () => {
  const answers = await untilDyingIsAsked('POST', '/v1/mobile_agents_v2', paymentRequest)
  expect(cutPaths.at(-1)).toBe('/v1/mobile_agents_v2')
  expect(new Set(answers)).toEqual(new Set([200]))
})

test.skipIf(lacksNginx)('a code of a step and a form of the dashboard are sent once', async () => {
  for (const path of ['/checkout/0123456789abcdef/step', '/dashboard/sign-in']) {
    const answers = await untilDyingIsAsked('POST', path, () => '{}')
    expect(cutPaths.at(-1)).toBe(path)
    expect(answers.at(-1)).toBe(502)
    expect(answers.slice(0, -1)).not.toContain(502)
  }
})

const answerTo = async (path: string, body: string) => (await nginx.ask('POST', path, body)).http

test.skipIf(lacksNginx)('a logo reaches the dashboard, and no other path takes as much', async () => {
  const logo = 'x'.repeat(256 * 1024)
  const { merchant_id } = merchant
  expect(await answerTo(`/dashboard/m/${merchant_id}/live/settings/logo`, logo)).not.toBe(413)
  expect(await answerTo('/v1/refunds', logo)).toBe(413)
  expect(await answerTo('/dashboard/sign-in', 'x'.repeat(330 * 1024))).toBe(413)
})

test.skipIf(lacksNginx)('a page survives it, and the log has no token, query or key', async () => {
  const token = 'Zm9vYmFyYmF6cXV4MTIzNA'
  await untilDyingIsAsked('GET', `/checkout/${token}/state?secret=1`, () => undefined)
  const check = `/v1/gateway/json_status_chk?merchant_key=${merchant.test.merchant_key}&invoice_id=X`
  await nginx.ask('GET', check)
  const attempt = 'x'.repeat(36)
  await nginx.ask('POST', `/callbacks/${attempt}`)
  // A line is written after the answer.
  for (const line of ['GET /checkout/***/state ', 'GET /v1/gateway/json_status_chk ', 'POST /callbacks/*** '])
    await expect.poll(nginx.log, { timeout: 10_000 }).toContain(line)
  const log = nginx.log()
  for (const secret of [token, attempt, 'secret=1', merchant.test.merchant_key])
    expect(log).not.toContain(secret)
})
