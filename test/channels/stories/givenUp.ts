import assert from 'node:assert/strict'
import { expect, test } from 'vitest'
import { reasons } from '../../../src/core/channel/reason.ts'
import type { Way } from '../../../src/core/channel/way.ts'
import type { Stage } from './stage.ts'

// Where the channel can ask for a withdrawal.
export function givenUpStories({ bench, connect }: Stage, way: Way) {
  test('what nobody has answered is failed, however often it is asked for; nobody can approve it any more', async () => {
    const { channel, order } = await connect()
    if (!channel.giveUp) return
    const sent = order(way)
    await channel.start(sent)
    const reply = await channel.giveUp(sent)
    assert.equal(reply.state, 'failed')
    expect(Object.keys(reasons)).toContain(reply.reason)
    await bench().approve(sent)
    expect(await channel.giveUp(sent)).toEqual(reply)
    expect(await channel.check(sent)).toEqual(reply)
  })

  test('what was approved stays paid, and what was declined is told as that', async () => {
    const { channel, order } = await connect()
    if (!channel.giveUp) return
    const [approved, declined] = [order(way), order(way)]
    for (const sent of [approved, declined]) await channel.start(sent)
    await Promise.all([bench().approve(approved), bench().decline(declined)])
    expect(await channel.giveUp(approved)).toMatchObject({ state: 'paid', amount: 2500n })
    expect(await channel.giveUp(declined)).toEqual(await channel.check(declined))
  })

  test('at the same moment as an approval it is one or the other, and the same for whoever asks', async () => {
    const { channel, order } = await connect()
    if (!channel.giveUp) return
    for (let times = 0; times < 5; times++) {
      const sent = order(way)
      await channel.start(sent)
      const [reply] = await Promise.all([channel.giveUp(sent), bench().approve(sent)])
      expect(['paid', 'failed']).toContain(reply.state)
      expect(await channel.check(sent)).toEqual(reply)
    }
  })

  test('what was never sent is not made to fail by that', async () => {
    const { channel, order } = await connect()
    if (!channel.giveUp) return
    expect(['absent', 'unknown']).toContain((await channel.giveUp(order(way))).state)
  })

  test('an answer that is lost is unknown, and known when asked again', async () => {
    const { line, channel, order } = await connect()
    if (!channel.giveUp) return
    const sent = order(way)
    await channel.start(sent)
    for (const mischief of ['cut', 'error', 'page'] as const) {
      line.mischief = mischief
      expect(await channel.giveUp(sent)).toMatchObject({ state: 'unknown' })
    }
    line.mischief = undefined
    expect(await channel.giveUp(sent)).toMatchObject({ state: 'failed' })
    await line.stop()
    expect(await channel.giveUp(sent)).toMatchObject({ state: 'unknown' }) // a question that did not leave
  })
}
