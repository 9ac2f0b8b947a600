import assert from 'node:assert/strict'
import { expect, test } from 'vitest'
import { reasons } from '../../../src/core/provider/reason.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { Stage } from './stage.ts'

// An order, its key, and its endings.
export function orderStories({ bench, connect }: Stage, method: PaymentMethod) {
  test('an order that was never sent is absent', async () => {
    const { account, order } = await connect()
    expect(await account.check(order(method))).toEqual({ state: 'absent' })
  })

  test('every order has a key of its own, under which the provider has it', async () => {
    const { account, order } = await connect()
    const keys = Array.from({ length: 200 }, () => order(method).idempotency_key)
    expect(new Set(keys).size).toBe(200)
    for (const key of keys) expect(key).toMatch(/^[\w.=-]{1,64}$/)
    const sent = order(method)
    await account.start(sent)
    expect(await bench().charges(sent)).toBe(1)
    expect(await bench().charges({ ...sent, idempotency_key: order(method).idempotency_key })).toBe(0)
  })

  test('a yes names the order that the provider names, and no other is believed', async () => {
    const { line, account, order } = await connect()
    const sent = order(method)
    await account.start(sent)
    await bench().approve(sent)
    line.rewrite = text => bench().otherOrder(text)
    expect(await account.check(sent)).toMatchObject({ state: 'other_order' })
    line.rewrite = undefined
    expect(await account.check(sent)).toMatchObject({ state: 'paid' })
  })

  test('a word that nobody knows is unknown', async () => {
    const { line, account, order } = await connect()
    const sent = order(method)
    await account.start(sent)
    await bench().approve(sent)
    line.rewrite = text => bench().unknownCode(text)
    expect(await account.check(sent)).toMatchObject({ state: 'unknown' })
  })

  for (const amount of ['', 'lots', '-25.00', '25.001', 'NaN'])
    test(`paid "${amount}" is never paid`, async () => {
      const { line, account, order } = await connect()
      const sent = order(method)
      await account.start(sent)
      await bench().approve(sent)
      line.rewrite = text => bench().otherAmount(text, amount)
      expect((await account.check(sent)).state).toMatch(/^(unknown|paid_mismatch)$/)
    })

  test('another amount is told as it is: to judge it is not the provider’s', async () => {
    const { line, account, order } = await connect()
    const sent = order(method)
    await account.start(sent)
    await bench().approve(sent)
    line.rewrite = text => bench().otherAmount(text, '26.00')
    expect(await account.check(sent)).toMatchObject({ state: 'paid', amount: 2600n, currency: 'GHS' })
  })

  for (const amount of [107n, 2507n, 99_999_999n])
    test(`${amount} is carried to the last digit, where the way takes it`, async () => {
      const { least = 0n, most = amount, step = 1n } = method.limits?.GHS ?? {}
      if (amount < least || amount > most || amount % step !== 0n) return
      const { account, order } = await connect()
      const sent = order(method, { amount })
      await account.start(sent)
      await bench().approve(sent)
      expect(await account.check(sent)).toMatchObject({ state: 'paid', amount, currency: 'GHS' })
    })

  test('declined is failed, with a reason of the list; on a page that stays open, declined', async () => {
    const { account, order } = await connect()
    const sent = order(method)
    await account.start(sent)
    await bench().decline(sent)
    const reply = await account.check(sent)
    assert.ok(reply.state === 'failed' || (reply.state === 'declined' && method.next === 'redirect'))
    expect(Object.keys(reasons)).toContain(reply.reason)
  })

  test('started twice, and ten times at once, is charged once, where the provider says so', async () => {
    const { account, order } = await connect()
    if (!account.startIsIdempotent) return
    const sent = order(method)
    await account.start(sent)
    const replies = await Promise.all(Array.from({ length: 10 }, () => account.start(sent)))
    for (const reply of replies) expect(reply.state).toBe('pending')
    expect(await bench().charges(sent)).toBe(1)
  })

  test('started is pending, with the way on; approved is paid, to the last digit', async () => {
    const { account, order } = await connect()
    const sent = order(method)
    const started = await account.start(sent)
    assert.equal(started.state, 'pending')
    expect(Boolean(started.redirect_url)).toBe(method.next === 'redirect')
    expect(Boolean(started.qr)).toBe(method.next === 'qr')
    const asked = await account.check(sent)
    assert.equal(asked.state, 'pending')
    const { redirect_url = started.redirect_url, qr = started.qr } = asked // not all providers say it again
    expect([redirect_url, qr]).toEqual([started.redirect_url, started.qr])
    await bench().approve(sent)
    const reply = await account.check(sent)
    expect(reply).toMatchObject({ state: 'paid', amount: 2500n, currency: 'GHS' })
    expect(reply).toMatchObject({ provider_ref: expect.stringMatching(/./) })
    expect(await account.start(sent)).toEqual(reply) // a late repeat learns how it ended
  })
}
