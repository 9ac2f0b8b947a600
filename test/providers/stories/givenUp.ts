import assert from 'node:assert/strict'
import { expect, test } from 'vitest'
import { reasons } from '../../../src/core/provider/reason.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { Stage } from './stage.ts'

// Where the provider can ask for a withdrawal.
export function givenUpStories({ bench, connect }: Stage, method: PaymentMethod) {
  test('what nobody has answered is failed, however often it is asked for; nobody can approve it any more', async () => {
    const { account, order } = await connect()
    if (!account.giveUp) return
    const sent = order(method)
    await account.start(sent)
    const reply = await account.giveUp(sent)
    assert.equal(reply.state, 'failed')
    expect(Object.keys(reasons)).toContain(reply.reason)
    await bench().approve(sent)
    expect(await account.giveUp(sent)).toEqual(reply)
    expect(await account.check(sent)).toEqual(reply)
  })

  test('what was approved stays paid, and what was declined is told as that', async () => {
    const { account, order } = await connect()
    if (!account.giveUp) return
    const [approved, declined] = [order(method), order(method)]
    for (const sent of [approved, declined]) await account.start(sent)
    await Promise.all([bench().approve(approved), bench().decline(declined)])
    expect(await account.giveUp(approved)).toMatchObject({ state: 'paid', amount: 2500n })
    expect(await account.giveUp(declined)).toEqual(await account.check(declined))
  })

  test('at the same moment as an approval it is one or the other, and the same for whoever asks', async () => {
    const { account, order } = await connect()
    if (!account.giveUp) return
    for (let times = 0; times < 5; times++) {
      const sent = order(method)
      await account.start(sent)
      const [reply] = await Promise.all([account.giveUp(sent), bench().approve(sent)])
      expect(['paid', 'failed']).toContain(reply.state)
      expect(await account.check(sent)).toEqual(reply)
    }
  })

  test('what was never sent is not made to fail by that', async () => {
    const { account, order } = await connect()
    if (!account.giveUp) return
    expect(['absent', 'unknown']).toContain((await account.giveUp(order(method))).state)
  })

  test('an answer that is lost is unknown, and known when asked again', async () => {
    const { line, account, order } = await connect()
    if (!account.giveUp) return
    const sent = order(method)
    await account.start(sent)
    for (const mischief of ['cut', 'error', 'page'] as const) {
      line.mischief = mischief
      expect(await account.giveUp(sent)).toMatchObject({ state: 'unknown' })
    }
    line.mischief = undefined
    expect(await account.giveUp(sent)).toMatchObject({ state: 'failed' })
    await line.stop()
    expect(await account.giveUp(sent)).toMatchObject({ state: 'unknown' }) // a question that did not leave
  })
}
