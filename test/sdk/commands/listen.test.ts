import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { readSince } from '../../../sdk/node/src/cli/listen.ts'
import type { Notification } from '../../../sdk/node/src/index.ts'
import { storeNotification } from '../../support/deliveries/notifications.ts'
import { openCuttingProxy } from '../../support/gateway/cuttingProxy.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { sdkClient } from '../../support/merchant/sdkClient.ts'
import { bodyOf, freePort, serve } from './handler.ts'
import { developerEnv, type Env, runCommand } from './terminal.ts'

vi.setConfig({ testTimeout: 180_000 })

let gateway: TestGateway
beforeAll(async () => {
  execFileSync(process.execPath, ['sdk/node/build.js'])
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

async function add({ merchant_id }: TestMerchant, count: number) {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const { tx_reference, sequence } = await storeNotification(gateway.db, { merchant_id })
    ids.push(`${tx_reference}-N${sequence}`)
  }
  return ids
}

// An endpoint that verifies what it receives, as a shop does.
async function openHandler(merchant: TestMerchant, answer: (count: number) => number = () => 200) {
  const received: Notification[] = []
  const attempts: number[] = []
  const client = sdkClient(gateway, merchant)
  const url = await serve(async (request, response) => {
    const notification = await client.parseNotification(await bodyOf(request), request.headers)
    received.push(notification)
    attempts.push(notification.attempt)
    response.writeHead(answer(received.length)).end()
  })
  return { url: `${url}/ipn`, received, attempts, ids: () => new Set(received.map(({ id }) => id)) }
}

function startListening(env: Env, ...args: string[]) {
  const child = spawn(process.execPath, ['sdk/node/bin/merchant.js', 'listen', ...args], { env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (output += chunk))
  return { child, output: () => output }
}

const killed = async (child: ChildProcess) => {
  child.kill('SIGKILL')
  await once(child, 'close')
}

test('nothing is lost over a restart with 1,000 events in between', async () => {
  const merchant = await gateway.addMerchant()
  const env = developerEnv(gateway.url, merchant.test)
  const old = await add(merchant, 3)
  const handler = await openHandler(merchant)
  const first = startListening(env, '--forward-to', handler.url)
  await expect.poll(first.output).toContain('Listening to')
  const before = await add(merchant, 50)
  await expect.poll(() => handler.received.length).toBeGreaterThan(10)
  await killed(first.child) // while it forwards
  const between = await add(merchant, 1000)
  const second = startListening(env, '--forward-to', handler.url)
  await expect.poll(() => handler.ids().size, { timeout: 120_000 }).toBe(1050)
  expect(handler.ids()).toEqual(new Set([...before, ...between]))
  expect([...handler.ids()].filter(id => old.includes(id))).toEqual([]) // the first start begins with the next event
  expect(handler.received.length).toBeLessThanOrEqual(1051) // only the one that was being sent is sent again
  expect(second.output()).toContain('Continuing behind event')
})

test('an event is shown with the answer of the handler, in columns, without colours in a file', async () => {
  const merchant = await gateway.addMerchant()
  await add(merchant, 2)
  const handler = await openHandler(merchant)
  const env = developerEnv(gateway.url, merchant.test)
  const args = ['listen', '--forward-to', handler.url, '--since', 'all', '--once']
  const { code, out } = await runCommand(args, env)
  expect(code).toBe(0)
  const lines = out.split('\n')
  expect(lines).toHaveLength(2)
  for (const line of lines)
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}paid {17}\S+ +GHS 25\.00 {2}200 {2}\d+ ms$/)
  expect(new Set(lines.map(line => line.indexOf('GHS'))).size).toBe(1)
  const coloured = await runCommand([...args.slice(0, 3), '--since', 'all', '--once'], env, {
    isTerminal: true,
  })
  expect(coloured.out).toContain('\x1b[32m')
  expect((await runCommand(['listen', '--forward-to', handler.url, '--once'], env)).out).toBe('') // it continues
})

test('an event that is not acknowledged is sent again, then named', async () => {
  const merchant = await gateway.addMerchant()
  await add(merchant, 2)
  const handler = await openHandler(merchant, count => (count <= 3 ? 500 : 200))
  const env = developerEnv(gateway.url, merchant.test)
  const args = ['listen', '--forward-to', handler.url, '--since', 'all', '--once']
  const { code, out, errors } = await runCommand(args, env)
  expect([code, handler.attempts]).toEqual([1, [1, 2, 3, 1]])
  expect(out.split('\n').map(line => /(\d+) {2}\d+ ms$/.exec(line)?.[1])).toEqual([
    '500',
    '500',
    '500',
    '200',
  ])
  expect(errors).toContain('listen --since 0')
})

test('while nothing listens at the address, or the gateway is down, it waits', async () => {
  const merchant = await gateway.addMerchant()
  await add(merchant, 1)
  const proxy = await openCuttingProxy(gateway.url)
  const env = developerEnv(proxy.url, merchant.test)
  const port = await freePort()
  const stop = new AbortController()
  const running = runCommand(['listen', '--forward-to', `http://127.0.0.1:${port}/`, '--since', 'all'], env, {
    signal: stop.signal,
  })
  await new Promise(resolve => setTimeout(resolve, 1500))
  stop.abort()
  const { code, out, errors } = await running
  expect([code, out.split('\n').length]).toEqual([0, 1])
  expect(errors).toContain('Waiting until something listens')
})

test('a cursor that is not in the feed, a wrong secret and a missing one are explained', async () => {
  const merchant = await gateway.addMerchant()
  const env = developerEnv(gateway.url, merchant.test)
  const beyond = await runCommand(['listen', '--since', '99', '--once'], env)
  expect([beyond.code, beyond.errors]).toEqual([1, expect.stringContaining('--since all')])
  const wrong = await runCommand(['listen', '--once'], { ...env, TOLLGATE_MERCHANT_SECRET: 'wrong' })
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('GW-010')])
  const { TOLLGATE_IPN_SECRET: _, ...without } = env
  const missing = await runCommand(['listen', '--forward-to', 'http://127.0.0.1:1/'], without)
  expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining('TOLLGATE_IPN_SECRET')])
})

const now = new Date('2026-11-18T12:00:00Z')
for (const [text, start] of [
  ['all', { after: '' }],
  ['0', { after: '' }],
  ['1042', { after: '1042' }],
  ['2h', { after: '', from: new Date('2026-11-18T10:00:00Z') }],
  ['2026-11-18T09:00Z', { after: '', from: new Date('2026-11-18T09:00:00Z') }],
] as const)
  test(`--since ${text}`, () => expect(readSince(text, now)).toEqual(start))

test('--since yesterday is refused', () => expect(() => readSince('yesterday', now)).toThrow('use a cursor'))
