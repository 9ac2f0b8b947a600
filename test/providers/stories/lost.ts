import { expect, test } from 'vitest'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { Timer } from '../../../src/runtime/deadline.ts'
import { type Line, mischiefs } from '../client.ts'
import type { Stage } from './stage.ts'

const endless = ['hang', 'drip'] // these end by our deadline alone

// The deadline is there when both requests have met their mischief: nobody waits for the real one.
const whenLost =
  (wanted: number) =>
  (line: Line): Timer =>
  ring => {
    const timer = setInterval(() => line.lost >= wanted && ring(), 20)
    return () => clearInterval(timer)
  }

// Answers that never come, or are none.
export function lostStories({ bench, connect }: Stage, method: PaymentMethod) {
  for (const mischief of mischiefs) {
    test(`an answer lost by "${mischief}" is unknown, and known when asked again`, async () => {
      const { line, account, order } = await connect({}, endless.includes(mischief) ? whenLost(2) : undefined)
      await account.check(order(method)) // whatever has to be made before an order is there
      const lost = order(method)
      line.mischief = mischief
      for (const reply of await Promise.all([account.start(lost), account.check(lost)]))
        expect(reply).toMatchObject({ state: 'unknown', words: expect.any(String) })
      line.mischief = undefined
      line.lost = -Infinity
      expect(await account.check(lost)).toMatchObject({ state: 'pending' })
      expect(await account.start(lost)).toMatchObject({ state: 'pending' })
      expect(await bench().charges(lost)).toBe(1)
    })
  }

  test('a provider that wants to be left alone is, for a while', async () => {
    const { line, account, order } = await connect()
    await account.check(order(method))
    const sent = order(method)
    line.mischief = 'busy'
    for (const reply of [await account.start(sent), await account.check(sent)])
      expect(reply).toMatchObject({ state: 'unknown', restMs: 7000 })
  })

  test('nobody at the other end: an order is known not to have been sent, a question is unknown', async () => {
    const { line, account, order } = await connect()
    await line.stop()
    expect(await account.start(order(method))).toMatchObject({ state: 'not_sent', words: expect.any(String) })
    expect(await account.check(order(method))).toMatchObject({ state: 'unknown' })
  })

  test('who is refused whatever is done does not know, and asks no more', async () => {
    const { line, account, order } = await connect()
    await account.check(order(method))
    line.mischief = 'refused'
    const [sent, before] = [order(method), line.lost]
    expect(await account.check(sent)).toMatchObject({ state: 'unknown' })
    expect(line.lost - before).toBeLessThanOrEqual(3) // the question, a new token, the question again
    expect((await account.start(sent)).state).toMatch(/^(unknown|not_sent)$/)
  })
}
