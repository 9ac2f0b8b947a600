import { expect, test } from 'vitest'
import type { Way } from '../../../src/core/channel/way.ts'
import type { Timer } from '../../../src/runtime/deadline.ts'
import { type Line, mischiefs } from '../line.ts'
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
export function lostStories({ bench, connect }: Stage, way: Way) {
  for (const mischief of mischiefs) {
    test(`an answer lost by "${mischief}" is unknown, and known when asked again`, async () => {
      const { line, channel, order } = await connect({}, endless.includes(mischief) ? whenLost(2) : undefined)
      await channel.check(order(way)) // whatever has to be made before an order is there
      const lost = order(way)
      line.mischief = mischief
      for (const reply of await Promise.all([channel.start(lost), channel.check(lost)]))
        expect(reply).toMatchObject({ state: 'unknown', words: expect.any(String) })
      line.mischief = undefined
      line.lost = -Infinity
      expect(await channel.check(lost)).toMatchObject({ state: 'pending' })
      expect(await channel.start(lost)).toMatchObject({ state: 'pending' })
      expect(await bench().charges(lost)).toBe(1)
    })
  }

  test('a provider that wants to be left alone is, for a while', async () => {
    const { line, channel, order } = await connect()
    await channel.check(order(way))
    const sent = order(way)
    line.mischief = 'busy'
    for (const reply of [await channel.start(sent), await channel.check(sent)])
      expect(reply).toMatchObject({ state: 'unknown', restMs: 7000 })
  })

  test('nobody at the other end: an order is known not to have been sent, a question is unknown', async () => {
    const { line, channel, order } = await connect()
    await line.stop()
    expect(await channel.start(order(way))).toMatchObject({ state: 'not_sent', words: expect.any(String) })
    expect(await channel.check(order(way))).toMatchObject({ state: 'unknown' })
  })

  test('who is refused whatever is done does not know, and asks no more', async () => {
    const { line, channel, order } = await connect()
    await channel.check(order(way))
    line.mischief = 'refused'
    const [sent, before] = [order(way), line.lost]
    expect(await channel.check(sent)).toMatchObject({ state: 'unknown' })
    expect(line.lost - before).toBeLessThanOrEqual(3) // the question, a new token, the question again
    expect((await channel.start(sent)).state).toMatch(/^(unknown|not_sent)$/)
  })
}
