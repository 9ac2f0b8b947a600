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

// A provider on a socket, with the behaviour that a test sets.
let server: Server
let respond: (response: ServerResponse) => unknown
let requests: number
let now = 0 // the monotonic clock of the monitors

const answers = (response: ServerResponse) => response.end('{"status":"PENDING"}')
// The deadline ends when the request arrives, so no test waits for it.
const deadlines = new Set<() => void>()
const hangs = () => [...deadlines].forEach(ring => ring())
const tooMany = (response: ServerResponse) => response.writeHead(429).end('{}')
const breaks = (response: ServerResponse) => response.writeHead(503).end('<html>')

beforeAll(() => {
  server = createServer((_, response) => {
    requests++
    respond(response)
  }).listen(0)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  respond = answers
  requests = 0
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

function openAccount(
  options: HealthMonitorOptions = {},
  timing?: ProviderTiming,
  more: Partial<ProviderAccount> = {},
) {
  const observed: ObservedCall[] = []
  const monitors = createHealthMonitors({
    monotonicMs: () => now,
    watch: call => observed.push(call),
    ...options,
  })
  const provider = { ...accountWith(timing), ...more }
  const account = guardAccount(provider, timer, monitors.account('acme'))
  return { ...account, monitors, observed, health: () => monitors.of('acme', 'wallet') }
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

test('after five orders without an answer nothing more is sent', async () => {
  const { start, health } = openAccount()
  respond = hangs
  expect(states(await times(5, start))).toEqual(Array(5).fill('unknown'))
  expect(health()).toBe('down')
  expect(states(await times(3, start))).toEqual(Array(3).fill('not_sent'))
  expect(requests).toBe(5)
})

for (const [name, failure] of [
  ['hangs', hangs],
  ['breaks', breaks],
] as const)
  test(`a provider that ${name} gets one probe at a time, and recovers`, async () => {
    const { start, mayStart, health } = openAccount()
    respond = failure
    await times(5, start)
    now = 5000
    expect(mayStart()).toBe(true)
    const probe = start(order())
    expect(mayStart()).toBe(false)
    expect(states(await times(2, start))).toEqual(['not_sent', 'not_sent'])
    expect((await probe).state).toBe('unknown')
    now = 14_999
    expect(states(await times(1, start))).toEqual(['not_sent'])
    respond = answers
    now = 15_000
    expect(states(await times(3, start))).toEqual(['pending', 'pending', 'pending'])
    expect(health()).toBe('healthy') // earlier counts are reset
  })

test('status questions are sent while the breaker is open, and their answers end the wait', async () => {
  const { start, check, mayStart, health } = openAccount()
  respond = hangs
  await times(5, start)
  expect(states(await times(2, check))).toEqual(['unknown', 'unknown'])
  respond = answers
  expect(states(await times(1, check))).toEqual(['pending'])
  expect(mayStart()).toBe(true)
  expect(states(await times(1, start))).toEqual(['pending'])
  expect(health()).toBe('healthy')
})

test('after HTTP 429 neither orders nor questions are sent for the requested time', async () => {
  const { start, check, health } = openAccount()
  respond = tooMany
  await times(1, check)
  respond = answers
  expect(states([...(await times(1, start)), ...(await times(1, check))])).toEqual(['not_sent', 'unknown'])
  expect(requests).toBe(1)
  expect(health()).toBe('degraded')
  now = 30_000
  expect(states([...(await times(1, start)), ...(await times(1, check))])).toEqual(['pending', 'pending'])
  expect(health()).toBe('healthy')
})

test('an unknown code is an answer, and its sample has no private data', async () => {
  const { check, monitors, health } = openAccount()
  respond = response => response.end('{"status":"HELD for 233244123456"}')
  await times(7, check)
  expect(health()).toBe('healthy')
  expect(
    monitors
      .account('acme')
      .rows()
      .map(({ unknown_codes }) => unknown_codes),
  ).toEqual([[{ sample: 'HELD for #', count: 7 }]])
})

test('the number of samples of unknown codes is bounded', async () => {
  const { check, monitors } = openAccount()
  const letters = 'abcdefghijklmnop'
  respond = response => response.end(JSON.stringify({ status: `word ${letters[requests % 16]}` }))
  await times(16, check)
  expect(monitors.account('acme').rows()[0]?.unknown_codes).toHaveLength(11)
})

test('calls above the rate limit are postponed, and do not count against the account', async () => {
  const { check, start, observed, health } = openAccount(
    {},
    { callsPerSecond: 1, startTimeoutMs: 200, pollTimeoutMs: 200 },
  )
  const reply = await Promise.all(
    [check, start, start, start, start, start, start].map(call => call(order())),
  )
  expect(states(reply)).toEqual(['pending', ...Array<string>(6).fill('not_sent')])
  expect(observed.filter(({ outcome }) => outcome === 'put_off')).toHaveLength(6)
  expect(health()).toBe('healthy')
  expect(requests).toBe(1)
})

test('a rate limit of questions does not limit orders', async () => {
  const { check, start } = openAccount({}, { pollsPerSecond: 1, startTimeoutMs: 200, pollTimeoutMs: 200 })
  const reply = await Promise.all([check, check, start, start, start].map(call => call(order())))
  expect(states(reply)).toEqual(['pending', 'unknown', 'pending', 'pending', 'pending'])
  expect(requests).toBe(4)
})

test('a refused connection is not sent, and counts against the account', async () => {
  const monitors = createHealthMonitors({ monotonicMs: () => now })
  const dead = {
    ...accountWith(),
    start: (_: Order, signal: AbortSignal) =>
      sendJson(operatorUrl('http://127.0.0.1:1/'), { method: 'POST', headers: {}, body: '', signal }).then(
        replyOf,
      ),
  }
  const { start } = guardAccount(dead, timer, monitors.account('dead'))
  expect(states(await times(6, start))).toEqual(Array(6).fill('not_sent'))
  expect(monitors.of('dead', 'wallet')).toBe('down')
})

test('failed attempts count against a live account, and not against a test account', () => {
  const monitors = createHealthMonitors()
  const ended = (mode: string, reason: string) =>
    monitors.ended({
      attempt: { provider_account: mode, mode, payment_method: 'wallet', state: 'failed', reason },
      events: [{ kind: 'attempt_failed' }],
    } as unknown as Parameters<typeof monitors.ended>[0])
  for (let n = 0; n < 4; n++) for (const mode of ['live', 'test']) ended(mode, 'network_error')
  expect([monitors.of('live', 'wallet'), monitors.of('test', 'wallet')]).toEqual(['down', 'healthy'])
})

for (const [what, trouble] of [
  ['hangs', hangs],
  ['breaks', breaks],
] as const)
  test(`a simulated provider that ${what} stays healthy: a tester chose that`, async () => {
    const { start, mayStart, health } = openAccount({}, undefined, { mode: 'test', testEndings: [] })
    respond = trouble
    for (let at = 0; at < 20; at++) expect(await start(order())).toMatchObject({ state: 'unknown' })
    respond = answers
    expect([mayStart(), health()]).toEqual([true, 'healthy'])
    expect(await start(order())).toEqual({ state: 'pending' })
  })

const coded = (provider_code: string, isKnown = false): Reply => ({
  state: 'failed',
  reason: 'refused',
  provider_code,
  ...(!isKnown && { unknownCode: provider_code }),
})

// Whether the guard flags each of these replies, to different attempts.
async function guarded(replies: readonly Reply[], more: Partial<ProviderAccount> = {}) {
  const remaining = [...replies]
  const account = openAccount({}, undefined, { check: async () => remaining.shift() as Reply, ...more })
  const flags: boolean[] = []
  for (const reply of await times(replies.length, account.check))
    flags.push('isRepeatedCode' in reply && reply.isRepeatedCode === true)
  return { ...account, flags }
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

test('unknown codes: those of a simulated provider are not reported', async () => {
  const { flags } = await guarded([one, one, one], { mode: 'test', testEndings: [] })
  expect(flags).toEqual([false, false, false])
})

test('unknown codes: an attempt that is polled repeatedly counts once', async () => {
  const { check } = openAccount({}, undefined, { check: async () => one })
  const same = order()
  for (let n = 0; n < 10; n++) expect(await check(same)).not.toHaveProperty('isRepeatedCode')
})

test('unknown codes: reported again after an hour, by three new attempts', async () => {
  const { check } = openAccount({}, undefined, { check: async () => one })
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
  const { monitors, health } = await guarded(Array<Reply>(8).fill(one))
  const ended = { provider_account: 'acme', payment_method: 'wallet', state: 'failed', reason: 'refused' }
  for (let n = 0; n < 8; n++)
    monitors.ended({ attempt: ended, events: [{ kind: 'attempt_failed' }] } as unknown as Parameters<
      typeof monitors.ended
    >[0])
  expect(health()).toBe('healthy')
})

for (const [name, reply] of [
  ['429', { state: 'unknown', words: 'HTTP 429', restMs: 30_000 }],
  ['401', { state: 'unknown', words: 'HTTP 401', isRefusal: true }],
  ['500', { state: 'unknown', words: 'HTTP 500' }],
] as const)
  test(`${name} to a customer’s input only affects that attempt: no pause, no open breaker, no refused account`, async () => {
    const { submit, start, health, monitors } = openAccount({}, undefined, { submit: async () => reply })
    const replies = await times(20, called => submit(called, 'otp', { otp: '111111' }))
    expect(replies).toEqual(Array(20).fill(reply))
    const acme = monitors.account('acme')
    expect([health(), acme.circuitState(), acme.whyBlocked('ask')]).toEqual(['healthy', 'closed', undefined])
    expect(acme.refusal).toBeUndefined()
    expect(states(await times(1, start))).toEqual(['pending'])
  })

test('the status question that follows a refused submission judges the account', async () => {
  const { submit, check, start } = openAccount({}, undefined, {
    submit: async () => ({ state: 'unknown', words: 'HTTP 429', restMs: 30_000 }),
  })
  await times(1, called => submit(called, 'otp', {}))
  respond = tooMany
  await times(1, check)
  expect(states(await times(1, start))).toEqual(['not_sent'])
})

test('a probe is due when the breaker begins to probe, then every 30 seconds, and after each longer pause', () => {
  const acme = createHealthMonitors({ monotonicMs: () => now }).account('acme')
  const fail = (attempt: string) => acme.trackCall('start', attempt)('unanswered')
  for (let n = 0; n < 5; n++) fail(`a${n}`)
  const isDueAt = (at: number) => {
    now = at
    return acme.takeProbe()
  }
  expect([4999, 5000, 5001, 34_999, 35_000].map(isDueAt)).toEqual([false, true, false, false, true])
  fail('a probe') // open until 45 seconds
  expect([44_999, 45_000, 45_001].map(isDueAt)).toEqual([false, true, false])
})

test('an account has at most fifty payment methods, whatever names attempts have', () => {
  const monitor = createHealthMonitors().account('mtn')
  for (let n = 0; n < 60; n++) monitor.count(`wallet_${n}`, { answered: 1 })
  const names = monitor.rows().map(({ payment_method }) => payment_method)
  expect([names.length, names[0], names.at(-1)]).toEqual([50, 'wallet_10', 'wallet_59'])
})
