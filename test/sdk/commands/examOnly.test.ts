import { expect, test, vi } from 'vitest'
import { examine, findingsIn, openSdkShop } from './examine.ts'
import { type Fault, openFaultyShop } from './faultyShop.ts'
import { freePort } from './handler.ts'
import { developerEnv } from './terminal.ts'

// A few checks of the exam, for `npm test`. The proof exam.test.ts holds whole exams.

vi.setConfig({ testTimeout: 60_000 })

const few = 'paid,failed,forged,wrong-amount,unknown-invoice'

test('the SDK handler passes a few checks', async () => {
  const port = await freePort()
  const { code, out } = await examine(await openSdkShop(port), port, developerEnv(), '--only', few)
  expect([code, findingsIn(out), out.split('\n').at(-1)]).toEqual([0, [], '5 of 5 checks passed.'])
})

for (const [fault, finding] of [
  ['no signature check', 'forged'],
  ['no comparison of amounts', 'wrong-amount'],
  ['acknowledges unknown orders', 'unknown-invoice'],
] as [Fault, string][])
  test(`found: ${fault}`, async () => {
    const port = await freePort()
    const shop = await openFaultyShop(`http://127.0.0.1:${port}`, fault)
    const { code, out } = await examine(shop, port, developerEnv(), '--only', few)
    expect([code, findingsIn(out)]).toEqual([1, [finding]])
    expect(out).toContain(`/docs/developer-commands#${finding}`)
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
