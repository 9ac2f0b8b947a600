import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { examine, findingsIn, openSdkShop } from './examine.ts'
import { type Fault, openFaultyShop } from './faultyShop.ts'
import { freePort } from './handler.ts'
import { developerEnv } from './terminal.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 400_000 })

const faults: [Fault, string, ...string[]][] = [
  ['no signature check', 'forged'],
  ['no time check', 'replayed'],
  ['signature over parsed JSON', 'extended'],
  ['no status check', 'unconfirmed', 'refunded', 'reordered', 'status-down', 'wrong-amount'],
  ['no comparison of amounts', 'wrong-amount'],
  ['no comparison of currencies', 'wrong-currency'],
  ['no memory of what was delivered', 'duplicate', 'concurrent', 'refunded', 'reordered'],
  ['reads before it writes', 'concurrent'],
  ['acknowledges unknown orders', 'unknown-invoice'],
  ['needs the reference of the request', 'early'],
  ['failed is final', 'late'],
  ['state of the notification', 'reordered', 'refunded'],
  ['acknowledges without a status', 'status-down', 'status-slow'],
  ['waits for the status for ever', 'status-slow'],
  ['delivers at any status', 'failed', 'late', 'refunded', 'unconfirmed'],
  ['answers 204', 'acknowledged'],
  ['takes a refund for a status', 'refunded'],
]

// The exam mostly waits, so several shops are examined at the same time.
const atOnce = 6
type Result = Awaited<ReturnType<typeof examine>>
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
    expect([code, findingsIn(out), out.split('\n').at(-1)]).toEqual([0, [], '18 of 18 checks passed.'])
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
