import { expect, test } from 'vitest'
import { sendWithToken, createTokenCache, withToken } from '../../../src/providers/http/token.ts'
import type { Token } from '../../../src/core/provider/provider.ts'
import { NotSent } from '../../../src/core/provider/reply.ts'

const patient = () => new AbortController().signal
const hour = 3600_000

function mint(lifetimeMs = hour) {
  let now = 0
  let minted = 0
  const make = (): Promise<Token> => Promise.resolve({ token: `t${++minted}`, lifetimeMs })
  return { ask: createTokenCache(make, () => now), pass: (ms: number) => (now += ms), minted: () => minted }
}

test('a token is requested once for all callers, and used until a minute before it expires', async () => {
  const { ask, pass } = mint()
  const asked = await Promise.all(Array.from({ length: 10 }, () => ask(patient())))
  expect(new Set(asked)).toEqual(new Set(['t1']))
  pass(hour - 61_000)
  expect(await ask(patient())).toBe('t1')
  pass(2000)
  expect(await ask(patient())).toBe('t2')
})

test('a short-lived token is used for half of its lifetime', async () => {
  const { ask, pass } = mint(10_000)
  await ask(patient())
  pass(4999)
  expect(await ask(patient())).toBe('t1')
  pass(1)
  expect(await ask(patient())).toBe('t2')
})

test('a refused token is replaced once, however many callers were refused', async () => {
  const { ask, minted } = mint()
  await ask(patient())
  const again = await Promise.all(Array.from({ length: 5 }, () => ask(patient(), 't1')))
  expect(new Set(again)).toEqual(new Set(['t2']))
  expect(minted()).toBe(2)
})

test('a refusal of a former token requests no new one', async () => {
  const { ask } = mint()
  await ask(patient())
  expect(await ask(patient(), 'an older one')).toBe('t1')
})

test('a token request that hangs delays no caller beyond its signal, and is aborted when no caller waits', async () => {
  const signals: AbortSignal[] = []
  const ask = createTokenCache(signal => {
    signals.push(signal)
    return signals.length === 1 ? new Promise(() => {}) : Promise.resolve({ token: 't', lifetimeMs: hour })
  })
  const [first, second] = [new AbortController(), new AbortController()]
  const waiting = [ask(first.signal), ask(second.signal)].map(one =>
    one.catch((error: Error) => error.message),
  )
  first.abort(new Error('late'))
  expect(await waiting[0]).toBe('late')
  expect(signals[0]?.aborted).toBe(false) // the other waits
  second.abort(new Error('later'))
  expect(await waiting[1]).toBe('later')
  expect(signals[0]?.aborted).toBe(true)
  expect(await ask(patient())).toBe('t')
})

test('a failed token request fails all waiting callers, and the next caller tries again', async () => {
  let times = 0
  const ask = createTokenCache(() =>
    ++times === 1 ? Promise.reject(new Error('no')) : Promise.resolve({ token: 't', lifetimeMs: hour }),
  )
  const told = await Promise.allSettled([ask(patient()), ask(patient())])
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask(patient())).toBe('t')
})

test('a question is asked again with a new token, once', async () => {
  const used: string[] = []
  const refuse = (token: string) => Promise.resolve({ http: used.push(token) && 401 })
  expect(await withToken(mint().ask, patient(), refuse)).toEqual({ http: 401 })
  expect(used).toEqual(['t1', 't2'])
})

const none = () => Promise.reject(new Error('no mint'))
const send = () => Promise.resolve({ http: 202 })

test('an order without a token was not sent', () =>
  expect(sendWithToken(none, patient(), send)).rejects.toEqual(new NotSent('no mint')))

// A 401 refuses the caller, so the first sending counts for nothing: what becomes of the second decides.
for (const [what, second, isNotSent] of [
  ['not sent', new NotSent('nobody there'), true],
  ['lost', new Error('nobody there'), false],
] as const)
  test(`refused by 401, and then ${what}`, async () => {
    let sends = 0
    const refusedOnce = () => (++sends === 1 ? Promise.resolve({ http: 401 }) : Promise.reject(second))
    const failure = await sendWithToken(mint().ask, patient(), refusedOnce).catch((error: unknown) => error)
    expect((failure as Error).message).toBe('HTTP 401, then: nobody there')
    expect(failure instanceof NotSent).toBe(isNotSent)
  })

const onceOnly = (_: AbortSignal, refused?: string) => (refused ? none() : Promise.resolve('t'))

test('refused by 401, and then there is no new token: not sent', async () => {
  const failure = await sendWithToken(onceOnly, patient(), async () => ({ http: 401 })).catch(
    (e: unknown) => e,
  )
  expect(failure).toEqual(new NotSent('HTTP 401, then: no mint'))
})
