import assert from 'node:assert/strict'
import { expect, test } from 'vitest'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { RefundOrder } from '../../../src/core/provider/refundOrder.ts'
import type { Timer } from '../../../src/runtime/deadline.ts'
import { type Line, mischiefs } from '../client.ts'
import type { Stage } from './stage.ts'

const endless = ['hang', 'drip'] // these end by our deadline alone
const whenLost =
  (line: Line): Timer =>
  ring => {
    const timer = setInterval(() => line.lost >= 1 && ring(), 20)
    return () => clearInterval(timer)
  }

// As the gateway continues: with the id that a reply gave it, and knowing that it was sent.
const sentOnce = (refund: RefundOrder, reply: object): RefundOrder => ({
  ...refund,
  provider_ref: 'provider_ref' in reply ? String(reply.provider_ref) : null,
  sent_at: refund.requested_at,
})

// A refund, its id, and its outcomes. Money goes back once, whatever happens to the answers.
export function refundStories({ bench, connect }: Stage, method: PaymentMethod) {
  // A paid order of 25.00, and the refunds of its account.
  async function paid(timer?: (line: Line) => Timer) {
    const connected = await connect({}, timer)
    const { account, order, line, refundOf } = connected
    expect(Boolean(bench().refunds)).toBe(Boolean(account.refunds)) // a provider with refunds needs a simulator with refunds
    const { refunds } = account
    const played = bench().refunds
    if (!refunds || !played) return undefined
    const sent = order(method)
    await account.start(sent)
    await bench().approve(sent)
    const reply = await account.check(sent)
    assert.ok(reply.state === 'paid')
    const charge = { ...sent, provider_ref: reply.provider_ref ?? null }
    return {
      line,
      account,
      refunds,
      played,
      charge,
      refundOf: (changes: Partial<RefundOrder> = {}) => refundOf(charge, changes),
    }
  }
  type Paid = NonNullable<Awaited<ReturnType<typeof paid>>>

  const paidTest = (name: string, story: (all: Paid) => Promise<void>) =>
    test(name, async () => {
      const all = await paid()
      if (all) await story(all)
    })

  paidTest('terms are stated', async ({ refunds }) => {
    expect(typeof refunds.isIdempotent).toBe('boolean')
    expect(typeof refunds.hasPartial).toBe('boolean')
    for (const ms of [refunds.withinMs, refunds.visibleWithinMs, ...Object.values(refunds.timing).flat()])
      expect(ms ?? 0).toBeGreaterThanOrEqual(0)
  })

  paidTest('a refund that was never sent is absent', async ({ refunds, refundOf }) => {
    expect(await refunds.checkRefund(refundOf())).toEqual({ state: 'absent' })
  })

  for (const amount of [2500n, 1007n])
    paidTest(`${amount} of 2500: pending, then succeeded to the last digit`, async all => {
      const { refunds, refundOf, played } = all
      if (amount !== 2500n && !refunds.hasPartial) return
      const refund = refundOf({ amount })
      const reply = await refunds.refund(refund)
      expect(reply).toMatchObject({ state: 'pending' })
      const sent = sentOnce(refund, reply)
      expect(await refunds.checkRefund(sent)).toMatchObject({ state: 'pending' })
      await played.finish(refund)
      const succeeded = { state: 'succeeded', currency: 'GHS', amount }
      expect(await refunds.checkRefund(sent)).toMatchObject(succeeded)
      expect(await refunds.checkRefund({ ...sent, provider_ref: null })).toMatchObject(succeeded)
      expect(await played.count(refund)).toBe(1)
    })

  paidTest('a refund that fails has failed, with a sentence', async ({ refunds, refundOf, played }) => {
    const refund = refundOf()
    const sent = sentOnce(refund, await refunds.refund(refund))
    await played.fail(refund)
    expect(await refunds.checkRefund(sent)).toMatchObject({
      state: 'failed',
      words: expect.stringMatching(/\w/),
    })
  })

  for (const mischief of mischiefs)
    test(`an answer lost by "${mischief}" is unknown; asked again, it is one refund`, async () => {
      const all = await paid(endless.includes(mischief) ? whenLost : undefined)
      if (!all) return
      const { line, refunds, refundOf, played } = all
      const refund = refundOf()
      await refunds.checkRefund(refund) // makes whatever has to be made before
      line.mischief = mischief
      line.lost = 0
      expect(await refunds.refund(refund)).toMatchObject({ state: 'unknown', words: expect.any(String) })
      line.lost = 0
      expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'unknown' })
      line.mischief = undefined
      line.lost = -Infinity
      const sent = sentOnce(refund, {})
      expect(await refunds.checkRefund(sent)).toMatchObject({ state: 'pending' })
      await played.finish(refund)
      expect(await refunds.checkRefund(sent)).toMatchObject({ state: 'succeeded', amount: 2500n })
      expect(await played.count(refund)).toBe(1)
    })

  paidTest('sent ten times at once it is one refund, if the provider says so', async all => {
    const { refunds, refundOf, played } = all
    if (!refunds.isIdempotent) return
    const refund = refundOf({ amount: 200n }) // so that a second one would not exceed the charge
    await refunds.refund(refund)
    const again = { ...refund, is_first_sending: false }
    const replies = await Promise.all(Array.from({ length: 10 }, () => refunds.refund(again)))
    for (const reply of replies) expect(reply).toMatchObject({ state: 'pending' })
    expect(await played.count(refund)).toBe(1)
  })

  paidTest('parts are refunds of their own; more than the charge is refused', async all => {
    const { refunds, refundOf, played } = all
    if (!refunds.hasPartial) return
    const [first, second, third] = [1500n, 1000n, 100n].map(amount => refundOf({ amount }))
    assert.ok(first && second && third)
    const replies = [await refunds.refund(first), await refunds.refund(second)]
    await played.finish(first)
    expect(await refunds.checkRefund(sentOnce(first, {}))).toMatchObject({
      state: 'succeeded',
      amount: 1500n,
    })
    expect(await refunds.checkRefund(sentOnce(second, replies[1] ?? {}))).toMatchObject({ state: 'pending' })
    expect(await refunds.refund(third)).toMatchObject({ state: 'failed', isRefused: true })
    expect(await played.count(third)).toBe(0)
    await played.finish(second)
    expect(await refunds.refund(refundOf())).toMatchObject({ state: 'failed', isRefused: true })
  })

  paidTest('a status that is not known is unknown', async ({ line, refunds, refundOf }) => {
    const refund = refundOf()
    const sent = sentOnce(refund, await refunds.refund(refund))
    line.rewrite = text => bench().unknownCode(text)
    expect(await refunds.checkRefund(sent)).toMatchObject({ state: 'unknown' })
  })

  for (const amount of ['26.00', '', 'lots', '-25.00', '25.001'])
    paidTest(`refunded "${amount}" is never this refund`, async ({ line, refunds, refundOf, played }) => {
      const refund = refundOf()
      const sent = sentOnce(refund, await refunds.refund(refund))
      await played.finish(refund)
      line.rewrite = text => bench().otherAmount(text, amount)
      expect((await refunds.checkRefund(sent)).state).toMatch(/^(other_refund|unknown)$/)
    })

  paidTest('a success of another refund is not this one', async ({ line, refunds, refundOf, played }) => {
    const refund = refundOf()
    const sent = sentOnce(refund, await refunds.refund(refund))
    await played.finish(refund)
    line.rewrite = text => played.otherRefund(text)
    expect((await refunds.checkRefund(sent)).state).toMatch(/^(other_refund|unknown)$/)
  })

  paidTest('our refund is not a reversal, before and after it has ended', async all => {
    const { account, refunds, refundOf, charge, played } = all
    const refund = refundOf({ amount: 1000n })
    await refunds.refund(refund)
    for (let times = 0; times < 2; times++) {
      const reply = await account.check({ ...charge, check_reversals: true })
      assert.ok(reply.state === 'paid')
      for (const reversal of reply.reversals ?? [])
        expect(reversal).toMatchObject({ refund_reference: refund.refund_reference, amount: 1000n })
      await played.finish(refund)
    }
  })

  paidTest('a provider that asks for a pause gets one', async ({ line, refunds, refundOf }) => {
    const refund = refundOf()
    await refunds.checkRefund(refund)
    line.mischief = 'busy'
    expect(await refunds.refund(refund)).toMatchObject({ state: 'unknown', restMs: 7000 })
    expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'unknown', restMs: 7000 })
  })

  paidTest('refused credentials prove nothing about a refund', async ({ line, refunds, refundOf }) => {
    const refund = refundOf()
    line.mischief = 'refused'
    expect((await refunds.refund(refund)).state).toMatch(/^(unknown|not_sent)$/)
    expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'unknown' })
  })

  paidTest('no connection: not sent, and a question is unknown', async ({ line, refunds, refundOf }) => {
    await line.stop()
    const refund = refundOf()
    expect(await refunds.refund(refund)).toMatchObject({ state: 'not_sent', words: expect.any(String) })
    expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'unknown' })
  })
}
