import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ChannelSettings, MakeChannel, Order, Way } from '../../src/core/channel/channel.ts'
import { reasons } from '../../src/core/channel/reason.ts'
import { guardChannel, type GuardedChannel as OurLine } from '../../src/runtime/channels.ts'
import { type Line, mischiefs } from './line.ts'

// A provider, lines to it that can misbehave, and a customer.
export type Bench = {
  newLine(): Promise<Line>
  settings(url: string): ChannelSettings // that make the channel speak to this address
  given(way: Way): Record<string, string> // by a customer who will decide in person
  approve(order: Order): Promise<unknown>
  decline(order: Order): Promise<unknown>
  charges(order: Order): Promise<number> // in the provider's books
  oddWord(text: string): string // the provider's answer, with a status that nobody knows
  otherAmount(text: string, amount: string): string
  otherOrder(text: string): string // the provider's answer about another order
  stop(): Promise<void>
}

// What every channel must do, whatever it speaks: whoever adds one gets these tests with it.
export function conformance(
  name: string,
  make: MakeChannel,
  settings: ChannelSettings,
  open: () => Promise<Bench>,
) {
  const ways = make(settings)?.ways ?? []
  let bench: Bench
  beforeAll(async () => {
    bench = await open()
  })
  afterAll(() => bench.stop())

  // As the house uses it, see `lineTo`. Each test has a line of its own, so that those that wait for the deadline wait side by side.
  async function connect(): Promise<{ line: Line; channel: OurLine }> {
    const line = await bench.newLine()
    onTestFinished(() => line.stop())
    const channel = make(bench.settings(line.url))
    assert.ok(channel)
    return { line, channel: guardChannel(channel) }
  }

  describe(`${name}: settings`, () => {
    test('none, or one missing: no channel', () => {
      expect(make({})).toBeUndefined()
      for (const missing of Object.keys(settings)) {
        expect(make({ ...settings, [missing]: undefined })).toBeUndefined()
        expect(make({ ...settings, [missing]: '' })).toBeUndefined()
      }
    })

    test('every way has a name of its own, a currency, and words for what it asks', () => {
      expect(ways.length).toBeGreaterThan(0)
      expect(new Set(ways.map(way => way.payment_method)).size).toBe(ways.length)
      for (const { payment_method, currencies, badge } of ways) {
        expect(payment_method).toMatch(/^[a-z][a-z0-9_]{1,39}$/)
        expect(currencies.length).toBeGreaterThan(0)
        expect(contrast(badge.background, badge.ink)).toBeGreaterThanOrEqual(4.5)
      }
    })
  })

  for (const way of ways) {
    const order = () => newOrder(way, bench.given(way))
    describe.concurrent(`${name}: ${way.payment_method}`, () => {
      test('an order that was never sent is absent', async () => {
        const { channel } = await connect()
        expect(await channel.check(order())).toEqual({ state: 'absent' })
      })

      for (const mischief of mischiefs) {
        // One that waited for ever would meet the test's own deadline.
        test(`an answer lost by "${mischief}" is unknown, and known when asked again`, async () => {
          const { line, channel } = await connect()
          const lost = order()
          line.mischief = mischief
          for (const reply of await Promise.all([channel.start(lost), channel.check(lost)]))
            expect(reply).toMatchObject({ state: 'unknown', words: expect.any(String) })
          line.mischief = undefined
          expect(await channel.check(lost)).toMatchObject({ state: 'pending' })
          expect(await channel.start(lost)).toMatchObject({ state: 'pending' })
          expect(await bench.charges(lost)).toBe(1)
        })
      }

      test('nobody at the other end: an order is known not to have been sent, a question is unknown', async () => {
        const { line, channel } = await connect()
        await line.stop()
        expect(await channel.start(order())).toMatchObject({ state: 'not_sent', words: expect.any(String) })
        expect(await channel.check(order())).toMatchObject({ state: 'unknown' })
      })

      test('a yes names the order that the provider names, and no other is believed', async () => {
        const { line, channel } = await connect()
        const sent = order()
        await channel.start(sent)
        await bench.approve(sent)
        line.rewrite = text => bench.otherOrder(text)
        expect(await channel.check(sent)).toMatchObject({ state: 'other_order' })
        line.rewrite = undefined
        expect(await channel.check(sent)).toMatchObject({ state: 'paid' })
      })

      test('a word that nobody knows is unknown', async () => {
        const { line, channel } = await connect()
        const sent = order()
        await channel.start(sent)
        await bench.approve(sent)
        line.rewrite = bench.oddWord
        expect(await channel.check(sent)).toMatchObject({ state: 'unknown' })
      })

      for (const amount of ['', 'lots', '-25.00', '25.001', 'NaN']) {
        test(`paid "${amount}" is unknown`, async () => {
          const { line, channel } = await connect()
          const sent = order()
          await channel.start(sent)
          await bench.approve(sent)
          line.rewrite = text => bench.otherAmount(text, amount)
          expect(await channel.check(sent)).toMatchObject({ state: 'unknown' })
        })
      }

      test('another amount is told as it is: to judge it is not the channel’s', async () => {
        const { line, channel } = await connect()
        const sent = order()
        await channel.start(sent)
        await bench.approve(sent)
        line.rewrite = text => bench.otherAmount(text, '26.00')
        expect(await channel.check(sent)).toMatchObject({ state: 'paid', amount: 2600n, currency: 'GHS' })
      })

      test('declined is failed, with a reason of the list', async () => {
        const { channel } = await connect()
        const sent = order()
        await channel.start(sent)
        await bench.decline(sent)
        const reply = await channel.check(sent)
        assert.equal(reply.state, 'failed')
        expect(Object.keys(reasons)).toContain(reply.reason)
      })

      describe('given up, where the channel can ask for that', () => {
        test('what nobody has answered is failed, however often it is asked for; nobody can approve it any more', async () => {
          const { channel } = await connect()
          if (!channel.giveUp) return
          const sent = order()
          await channel.start(sent)
          const reply = await channel.giveUp(sent)
          assert.equal(reply.state, 'failed')
          expect(Object.keys(reasons)).toContain(reply.reason)
          await bench.approve(sent)
          expect(await channel.giveUp(sent)).toEqual(reply)
          expect(await channel.check(sent)).toEqual(reply)
        })

        test('what was approved stays paid, and what was declined is told as that', async () => {
          const { channel } = await connect()
          if (!channel.giveUp) return
          const [approved, declined] = [order(), order()]
          for (const sent of [approved, declined]) await channel.start(sent)
          await Promise.all([bench.approve(approved), bench.decline(declined)])
          expect(await channel.giveUp(approved)).toMatchObject({ state: 'paid', amount: 2500n })
          expect(await channel.giveUp(declined)).toEqual(await channel.check(declined))
        })

        test('at the same moment as an approval it is one or the other, and the same for whoever asks', async () => {
          const { channel } = await connect()
          if (!channel.giveUp) return
          for (let times = 0; times < 5; times++) {
            const sent = order()
            await channel.start(sent)
            const [reply] = await Promise.all([channel.giveUp(sent), bench.approve(sent)])
            expect(['paid', 'failed']).toContain(reply.state)
            expect(await channel.check(sent)).toEqual(reply)
          }
        })

        test('what was never sent is not made to fail by that', async () => {
          const { channel } = await connect()
          if (!channel.giveUp) return
          expect(['absent', 'unknown']).toContain((await channel.giveUp(order())).state)
        })

        test('an answer that is lost is unknown, and known when asked again', async () => {
          const { line, channel } = await connect()
          if (!channel.giveUp) return
          const sent = order()
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
      })

      test('started twice, and ten times at once, is charged once, where the channel says so', async () => {
        const { channel } = await connect()
        if (!channel.startIsIdempotent) return
        const sent = order()
        await channel.start(sent)
        const replies = await Promise.all(Array.from({ length: 10 }, () => channel.start(sent)))
        for (const reply of replies) expect(reply.state).toBe('pending')
        expect(await bench.charges(sent)).toBe(1)
      })

      test('started is pending, with the way on; approved is paid, to the last digit', async () => {
        const { channel } = await connect()
        const sent = order()
        const started = await channel.start(sent)
        assert.equal(started.state, 'pending')
        expect(Boolean(started.redirect_url)).toBe(way.next === 'redirect')
        expect(Boolean(started.qr)).toBe(way.next === 'qr')
        expect(await channel.check(sent)).toEqual(started)
        await bench.approve(sent)
        const reply = await channel.check(sent)
        expect(reply).toMatchObject({ state: 'paid', amount: 2500n, currency: 'GHS' })
        expect(reply).toMatchObject({ provider_ref: expect.stringMatching(/./) })
        expect(await channel.start(sent)).toEqual(reply) // a late repeat learns how it ended
      })
    })
  }
}

let orders = 0

export const newOrder = (way: Way, given: Record<string, string>, changes: Partial<Order> = {}): Order => ({
  attempt_id: `m0m0m0m0m0order${process.pid}n${++orders}`,
  tx_reference: 'TG-000000-000000-000000',
  invoice_id: `SH-${orders}`,
  payment_method: way.payment_method,
  amount: 2500n,
  currency: 'GHS',
  given,
  merchant_name: 'Ama Shop',
  description: 'Two straw hats',
  provider_ref: null,
  callback_url: 'https://pay.example.test/callbacks/provider/c0ffee',
  return_url: 'https://pay.example.test/checkout/t0ken',
  ...changes,
})

function contrast(a: string, b: string) {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string) {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(at => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
