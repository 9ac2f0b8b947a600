import assert from 'node:assert/strict'
import { expect, test } from 'vitest'
import type { Order } from '../../../src/core/provider/order.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { Connected, Stage } from './stage.ts'

// Where the provider may want to know something after the start.
export function stepStories({ bench, connect }: Stage, method: PaymentMethod) {
  const opened = async () => {
    const { steps } = bench()
    const given = steps?.given(method)
    if (!steps || !given) return undefined
    const connected = await connect()
    const sent = connected.order(method, { given })
    return { ...connected, steps, sent, name: await stepOf(connected, sent) }
  }

  test('an order that asks for a step shows it to whoever asks', async () => {
    const open = await opened()
    if (!open) return
    const reply = await open.account.check(open.sent)
    assert.equal(reply.state, 'pending')
    expect(reply.step?.name).toBe(open.name)
    expect(reply.step?.fields.length).toBeGreaterThan(0)
  })

  test('what is wrong is asked for again, what is right goes on, and it is charged once', async () => {
    const open = await opened()
    if (!open) return
    const { account, sent, steps, name } = open
    const again = await account.submit(sent, name, steps.wrong)
    assert.equal(again.state, 'pending')
    expect(again.step?.name).toBe(name)
    const on = await account.submit(sent, name, steps.right)
    expect(['pending', 'paid']).toContain(on.state)
    expect(on).not.toHaveProperty('step')
    await bench().approve(sent)
    expect(await account.check(sent)).toMatchObject({ state: 'paid', amount: 2500n })
    expect(await bench().charges(sent)).toBe(1)
  })

  test('what was typed and lost on its way back is unknown; asking tells that the step is done', async () => {
    const open = await opened()
    if (!open) return
    const { line, account, sent, steps, name } = open
    line.mischief = 'cut'
    expect(await account.submit(sent, name, steps.right)).toMatchObject({ state: 'unknown' })
    line.mischief = undefined
    const reply = await account.check(sent)
    expect(['pending', 'paid']).toContain(reply.state)
    expect(reply).not.toHaveProperty('step')
  })

  test('what was typed and never left leaves the step open', async () => {
    const open = await opened()
    if (!open) return
    await open.line.stop()
    expect(await open.account.submit(open.sent, open.name, open.steps.right)).toMatchObject({
      state: 'unknown',
    })
  })
}

async function stepOf({ account }: Connected, sent: Order): Promise<string> {
  const started = await account.start(sent)
  assert.equal(started.state, 'pending')
  assert.ok(started.step)
  return started.step.name
}
