import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Order } from '../../../src/core/provider/order.ts'
import type { ProviderAccount, ProviderTiming } from '../../../src/core/provider/provider.ts'
import type { Reply, SanitizedReply } from '../../../src/core/provider/reply.ts'
import { operatorUrl } from '../../../src/core/urlTrust.ts'
import { openProviderHttp } from '../../../src/providers/http/providerHttp.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import {
  createHealthMonitors,
  type HealthMonitorOptions,
  type ObservedCall,
} from '../../../src/runtime/providers/healthMonitor.ts'
import { terms } from '../../support/payments/simulatedNode.ts'

const { askJson, sendJson } = openProviderHttp()

// A provider that does as the test says, on a socket.
let server: Server
let does: (response: ServerResponse) => unknown
let asked: number
let now = 0 // of the health monitors; moved by the test alone

const answers = (response: ServerResponse) => response.end('{"status":"PENDING"}')
// Nobody waits for a clock: the deadline is over when the request has come.
const deadlines = new Set<() => void>()
const hangs = () => [...deadlines].forEach(ring => ring())
const tooMany = (response: ServerResponse) => response.writeHead(429).end('{}')
const breaks = (response: ServerResponse) => response.writeHead(503).end('<html>')

beforeAll(() => {
  server = createServer((_, response) => {
    asked++
    does(response)
  }).listen(0)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  does = answers
  asked = 0
  now = 0
})

const url = () => `http://localhost:${(server.address() as AddressInfo).port}/`

function replyOf({ http, answer }: { http: number; answer: Record<string, unknown> }): Reply {
  if (http === 429) return { state: 'unknown', words: 'HTTP 429', restMs: 30_000 }
  if (http !== 200) return { state: 'unknown', words: `HTTP ${http}` }
  if (answer.status === 'PENDING') return { state: 'pending' }
  return { state: 'unknown', words: 'status', unknownCode: String(answer.status) }
}

const accountWith = (timing?: ProviderTiming): ProviderAccount => ({
  ...terms,
  mode: 'live',
  timing,
  methods: [],
  start: async (_, signal) =>
    replyOf(await sendJson(operatorUrl(url()), { method: 'POST', headers: {}, body: '{}', signal })),
  check: async (_, signal) =>
    replyOf(await askJson(operatorUrl(url()), { method: 'GET', headers: {}, signal })),
})

const timer = (ring: () => void) => (deadlines.add(ring), () => deadlines.delete(ring))

function lineOf(
  options: HealthMonitorOptions = {},
  timing?: ProviderTiming,
  more: Partial<ProviderAccount> = {},
) {
  const seen: ObservedCall[] = []
  const monitors = createHealthMonitors({ monotonicMs: () => now, watch: one => seen.push(one), ...options })
  const provider = { ...accountWith(timing), ...more }
  const account = guardAccount(provider, timer, monitors.monitorFor('acme', provider))
  return { ...account, monitors, seen, standing: () => monitors.of('acme', 'wallet') }
}
let number = 0
const order = (): Order =>
  ({ attempt_id: `a${number++}`, key: 'k', payment_method: 'wallet' }) as unknown as Order
const times = async (count: number, call: (order: Order) => Promise<SanitizedReply>) => {
  const reply: SanitizedReply[] = []
  for (let n = 0; n < count; n++) reply.push(await call(order()))
  return reply
}
const states = (reply: readonly SanitizedReply[]) => reply.map(({ state }) => state)

test('a provider that hangs is left alone after five orders, and nothing more is sent', async () => {
  const { start, standing } = lineOf()
  does = hangs
  expect(states(await times(5, start))).toEqual(Array(5).fill('unknown'))
  expect(standing()).toBe('down')
  expect(states(await times(3, start))).toEqual(Array(3).fill('not_sent'))
  expect(asked).toBe(5)
})

for (const [name, sick] of [
  ['hangs', hangs],
  ['breaks', breaks],
] as const)
  test(`one that ${name} is tried by one at a time, and comes back`, async () => {
    const { start, mayStart, standing } = lineOf()
    does = sick
    await times(5, start)
    now = 5000
    expect(mayStart()).toBe(true)
    const probe = start(order())
    expect(mayStart()).toBe(false)
    expect(states(await times(2, start))).toEqual(['not_sent', 'not_sent'])
    expect((await probe).state).toBe('unknown')
    now = 14_999
    expect(states(await times(1, start))).toEqual(['not_sent'])
    does = answers
    now = 15_000
    expect(states(await times(3, start))).toEqual(['pending', 'pending', 'pending'])
    expect(standing()).toBe('healthy') // what was before is forgiven
  })

test('questions go on meanwhile, and bring it back without a customer', async () => {
  const { start, check, mayStart, standing } = lineOf()
  does = hangs
  await times(5, start)
  expect(states(await times(2, check))).toEqual(['unknown', 'unknown'])
  does = answers
  expect(states(await times(1, check))).toEqual(['pending'])
  expect(mayStart()).toBe(true)
  expect(states(await times(1, start))).toEqual(['pending'])
  expect(standing()).toBe('healthy')
})

test('one that has too many is left alone for as long as it says, by orders and questions', async () => {
  const { start, check, standing } = lineOf()
  does = tooMany
  await times(1, check)
  does = answers
  expect(states([...(await times(1, start)), ...(await times(1, check))])).toEqual(['not_sent', 'unknown'])
  expect(asked).toBe(1)
  expect(standing()).toBe('degraded')
  now = 30_000
  expect(states([...(await times(1, start)), ...(await times(1, check))])).toEqual(['pending', 'pending'])
  expect(standing()).toBe('healthy')
})

test('a word that we do not know is an answer, and is kept without what is private', async () => {
  const { check, monitors, standing } = lineOf()
  does = response => response.end('{"status":"HELD for 233244123456"}')
  await times(7, check)
  expect(standing()).toBe('healthy')
  expect(
    monitors
      .account('acme')
      .rows()
      .map(({ unknown_codes }) => unknown_codes),
  ).toEqual([[{ sample: 'HELD for #', count: 7 }]])
})

test('so many words that nobody could have written them are bounded', async () => {
  const { check, monitors } = lineOf()
  const letters = 'abcdefghijklmnop'
  does = response => response.end(JSON.stringify({ status: `word ${letters[asked % 16]}` }))
  await times(16, check)
  expect(monitors.account('acme').rows()[0]?.unknown_codes).toHaveLength(11)
})

test('what is over the rate is postponed, and is no fault of the provider', async () => {
  const { check, start, seen, standing } = lineOf(
    {},
    { callsPerSecond: 1, startTimeoutMs: 200, pollTimeoutMs: 200 },
  )
  const reply = await Promise.all(
    [check, start, start, start, start, start, start].map(call => call(order())),
  )
  expect(states(reply)).toEqual(['pending', ...Array<string>(6).fill('not_sent')])
  expect(seen.filter(({ outcome }) => outcome === 'put_off')).toHaveLength(6)
  expect(standing()).toBe('healthy')
  expect(asked).toBe(1)
})

test('a rate of questions leaves orders alone', async () => {
  const { check, start } = lineOf({}, { pollsPerSecond: 1, startTimeoutMs: 200, pollTimeoutMs: 200 })
  const reply = await Promise.all([check, check, start, start, start].map(call => call(order())))
  expect(states(reply)).toEqual(['pending', 'unknown', 'pending', 'pending', 'pending'])
  expect(asked).toBe(4)
})

test('nobody who listens no more: the order has not left, and it counts', async () => {
  const monitors = createHealthMonitors({ monotonicMs: () => now })
  const dead = {
    ...accountWith(),
    start: (_: Order, signal: AbortSignal) =>
      sendJson(operatorUrl('http://127.0.0.1:1/'), { method: 'POST', headers: {}, body: '', signal }).then(
        replyOf,
      ),
  }
  const { start } = guardAccount(dead, timer, monitors.monitorFor('dead', dead))
  expect(states(await times(6, start))).toEqual(Array(6).fill('not_sent'))
  expect(monitors.of('dead', 'wallet')).toBe('down')
})

test('endings: the account is judged by its own faults, and never by what a tester chose', () => {
  const monitors = createHealthMonitors()
  monitors.monitorFor('live', { mode: 'live' })
  monitors.monitorFor('played', { mode: 'test' })
  const ended = (provider: string, reason: string) =>
    monitors.ended({
      attempt: { provider_account: provider, payment_method: 'wallet', state: 'failed', reason },
      events: [{ kind: 'attempt_failed' }],
    } as unknown as Parameters<typeof monitors.ended>[0])
  for (let n = 0; n < 4; n++) for (const name of ['live', 'played']) ended(name, 'network_error')
  expect([monitors.of('live', 'wallet'), monitors.of('played', 'wallet')]).toEqual(['down', 'healthy'])
})

for (const [what, trouble] of [
  ['hangs', hangs],
  ['breaks', breaks],
] as const)
  test(`a provider that is played ${what} because a tester wants it: the others pay on, and nothing is said of it`, async () => {
    const { start, mayStart, standing } = lineOf({}, undefined, { mode: 'test', testEndings: [] })
    does = trouble
    for (let at = 0; at < 20; at++) expect(await start(order())).toMatchObject({ state: 'unknown' })
    does = answers
    expect([mayStart(), standing()]).toEqual([true, 'healthy'])
    expect(await start(order())).toEqual({ state: 'pending' })
  })

const coded = (provider_code: string, isKnown = false): Reply => ({
  state: 'failed',
  reason: 'refused',
  provider_code,
  ...(!isKnown && { unknownCode: provider_code }),
})

// What the account guard says of these replies, each to another attempt.
async function guarded(replies: readonly Reply[], more: Partial<ProviderAccount> = {}) {
  const left = [...replies]
  const line = lineOf({}, undefined, { check: async () => left.shift() as Reply, ...more })
  const flags: boolean[] = []
  for (const reply of await times(replies.length, line.check))
    flags.push('isRepeatedCode' in reply && reply.isRepeatedCode === true)
  return { ...line, flags }
}

const [one, other] = [coded('NEW_1'), coded('NEW_2')]
const unclear: Reply = { state: 'unknown', words: 'HTTP 500', unknownCode: 'NEW_1', provider_code: 'NEW_1' }

for (const [what, replies, flags] of [
  ['the third of three equal unknown codes', [one, one, one, one], [false, false, true, false]],
  ['others do not count', [one, other, one, other, one], [false, false, false, false, true]],
  ['a known code is not reported', Array(4).fill(coded('EXPIRED', true)), Array(4).fill(false)],
  ['an unknown code without an outcome counts as well', [unclear, unclear, unclear], [false, false, true]],
] as [string, Reply[], boolean[]][])
  test(`unknown codes: ${what}`, async () => expect((await guarded(replies)).flags).toEqual(flags))

test('unknown codes: a tester chose them where the provider is played', async () => {
  const { flags } = await guarded([one, one, one], { mode: 'test', testEndings: [] })
  expect(flags).toEqual([false, false, false])
})

test('unknown codes: one attempt that is asked about again and again counts once', async () => {
  const { check } = lineOf({}, undefined, { check: async () => one })
  const same = order()
  for (let n = 0; n < 10; n++) expect(await check(same)).not.toHaveProperty('isRepeatedCode')
})

test('unknown codes: reported again after an hour, by three new attempts', async () => {
  const { check } = lineOf({}, undefined, { check: async () => one })
  const orders = Array.from({ length: 3 }, order)
  const flagsOf = async (all: Order[]) => {
    const flags = []
    for (const each of all) flags.push('isRepeatedCode' in (await check(each)))
    return flags
  }
  expect(await flagsOf(orders)).toEqual([false, false, true])
  now = 3_599_999
  expect(await flagsOf([order(), order(), order()])).toEqual([false, false, false])
  now = 3_600_000
  expect(await flagsOf(orders)).toEqual([false, false, false]) // they were counted before
  expect(await flagsOf([order(), order(), order()])).toEqual([false, false, true])
})

test('unknown codes never count against the account', async () => {
  const { monitors, standing } = await guarded(Array<Reply>(8).fill(one))
  const ended = { provider_account: 'acme', payment_method: 'wallet', state: 'failed', reason: 'refused' }
  for (let n = 0; n < 8; n++)
    monitors.ended({ attempt: ended, events: [{ kind: 'attempt_failed' }] } as unknown as Parameters<
      typeof monitors.ended
    >[0])
  expect(standing()).toBe('healthy')
})

for (const [name, reply] of [
  ['429', { state: 'unknown', words: 'HTTP 429', restMs: 30_000 }],
  ['401', { state: 'unknown', words: 'HTTP 401', isRefusal: true }],
  ['500', { state: 'unknown', words: 'HTTP 500' }],
] as const)
  test(`${name} to what a customer typed concerns that attempt alone: no pause, no breaker, no refused account`, async () => {
    const { submit, start, standing, monitors } = lineOf({}, undefined, { submit: async () => reply })
    const replies = await times(20, called => submit(called, 'otp', { otp: '111111' }))
    expect(replies).toEqual(Array(20).fill(reply))
    const acme = monitors.account('acme')
    expect([standing(), acme.circuitState(), acme.pauseMs()]).toEqual(['healthy', 'closed', 0])
    expect(acme.refusal).toBeUndefined()
    expect(states(await times(1, start))).toEqual(['pending'])
  })

test('the status question that follows a refused submission judges the account', async () => {
  const { submit, check, start } = lineOf({}, undefined, {
    submit: async () => ({ state: 'unknown', words: 'HTTP 429', restMs: 30_000 }),
  })
  await times(1, called => submit(called, 'otp', {}))
  does = tooMany
  await times(1, check)
  expect(states(await times(1, start))).toEqual(['not_sent'])
})
