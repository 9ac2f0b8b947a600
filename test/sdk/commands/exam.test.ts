import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTollgate, memoryStore } from '../../../sdk/node/src/index.ts'
import { examListener, notificationListener } from '../../../sdk/node/src/node.ts'
import { testIpnSecret } from '../../../sdk/node/src/testing.ts'
import { type Fault, openFaultyShop } from './faultyShop.ts'
import { type AtEnd, freePort, serve } from './handler.ts'
import { developerEnv, type Env, runCommand } from './terminal.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 400_000 })

const examine = async (shop: string, port: number, env: Env, ...more: string[]) =>
  runCommand(['exam', `${shop}/ipn`, '--orders', `${shop}/exam`, '--port', String(port), ...more], env)

const findingsIn = (out: string) => [...out.matchAll(/^FAIL {2}(\S+)/gm)].map(([, name = '']) => name)

type Order = { total: string; currency: string; state: string; deliveries: number }

// A shop as the README shows it: the SDK's handler, and three lines for the exam.
function openSdkShop(port: number, clean?: AtEnd) {
  const orders = new Map<string, Order>()
  const tollgate = createTollgate({
    baseUrl: `http://127.0.0.1:${port}`,
    merchantKey: 'tk_exam',
    merchantSecret: 'a secret for the exam only',
    ipnSecret: testIpnSecret,
  })
  const ipn = notificationListener(tollgate, {
    store: memoryStore(),
    findOrder: invoiceId => orders.get(invoiceId),
    onStatus: ({ status, order }) => {
      if (order.state === 'paid') return
      order.state = status
      if (status === 'paid') order.deliveries++
    },
    onError: () => {},
  })
  const exam = examListener(tollgate, {
    async createOrder({ invoiceId, total, currency, ipnUrl }) {
      orders.set(invoiceId, { total, currency, state: 'new', deliveries: 0 })
      await tollgate.initiate({ invoiceId, total, currency, ipnUrl })
    },
    readOrder(invoiceId) {
      const order = orders.get(invoiceId)
      return order && { status: order.state, deliveries: order.deliveries }
    },
  })
  return serve((request, response) => (request.url === '/exam' ? exam : ipn)(request, response), clean)
}

const faults: [Fault, string, ...string[]][] = [
  ['no signature check', 'forged'],
  ['no time check', 'replayed'],
  ['signature over parsed JSON', 'extended'],
  ['no status check', 'unconfirmed', 'reordered', 'status-down', 'wrong-amount'],
  ['no comparison of amounts', 'wrong-amount'],
  ['no comparison of currencies', 'wrong-currency'],
  ['no memory of what was delivered', 'duplicate', 'concurrent', 'reordered'],
  ['reads before it writes', 'concurrent'],
  ['acknowledges unknown orders', 'unknown-invoice'],
  ['needs the reference of the request', 'early'],
  ['failed is final', 'late'],
  ['state of the notification', 'reordered'],
  ['acknowledges without a status', 'status-down', 'status-slow'],
  ['waits for the status for ever', 'status-slow'],
  ['delivers at any status', 'failed', 'late', 'unconfirmed'],
  ['answers 204', 'acknowledged'],
]

// The exam mostly waits, so several shops are examined at the same time.
const atOnce = 6
type Result = Awaited<ReturnType<typeof runCommand>>
const results = new Map<Fault | 'SDK' | 'right', Result>()
const atEnd: (() => void)[] = []
const later = (clean: () => void) => void atEnd.push(clean)

async function examineShop(name: Fault | 'SDK' | 'right') {
  const port = await freePort()
  const fault = name === 'right' || name === 'SDK' ? undefined : name
  const shop = await (name === 'SDK'
    ? openSdkShop(port, later)
    : openFaultyShop(`http://127.0.0.1:${port}`, fault, later))
  results.set(name, await examine(shop, port, developerEnv(undefined, undefined, later)))
}

beforeAll(async () => {
  const shops = ['SDK', 'right', ...faults.map(([fault]) => fault)] as const
  const queue = shops.values() // shared by all of them
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const name of queue) await examineShop(name)
    }),
  )
})
afterAll(() => {
  for (const clean of atEnd) clean()
})

for (const name of ['SDK', 'right'] as const)
  test(`the ${name} handler gets full marks`, () => {
    const { code, out = '' } = results.get(name) ?? {}
    expect([code, findingsIn(out), out.split('\n').at(-1)]).toEqual([0, [], '17 of 17 checks passed.'])
  })

for (const [fault, own, ...more] of faults)
  test(`found: ${fault}`, () => {
    const { code, out = '', errors } = results.get(fault) ?? {}
    expect(errors).toBe('')
    expect(findingsIn(out).toSorted()).toEqual([own, ...more].toSorted())
    expect(code).toBe(1)
    expect(out).toContain(`/docs/developer-commands#${own}`)
    expect(out).toMatch(/^ {6}Cure: /m)
  })

test('an exam that cannot be held says why', async () => {
  const port = await freePort()
  const { code, errors } = await examine(await openSdkShop(9), port, developerEnv()) // another gateway
  expect([code, errors]).toEqual([2, expect.stringContaining('create_order')])
})

test('a live key and an unknown check are refused', async () => {
  const env = { ...developerEnv(), TOLLGATE_MERCHANT_KEY: 'lk_1' }
  const live = await examine('http://127.0.0.1:9', 1, env)
  expect([live.code, live.errors]).toEqual([2, expect.stringContaining('live key')])
  const unknown = await examine('http://127.0.0.1:9', 1, developerEnv(), '--only', 'everything')
  expect([unknown.code, unknown.errors]).toEqual([2, expect.stringContaining('Checks: paid')])
})
