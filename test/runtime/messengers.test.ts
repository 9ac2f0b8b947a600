import { expect, test } from 'vitest'
import type { OutboundMessage, SendResult } from '../../src/core/message/messenger.ts'
import { messengersOf } from '../../src/runtime/messengers.ts'

test('letters that nobody answers for make room for others', async () => {
  const deadlines = new Set<() => void>()
  const messengers = messengersOf(
    [
      {
        name: 'silent',
        messenger: { medium: 'sms', send: () => new Promise<SendResult>(() => {}), close: async () => {} },
      },
    ],
    ring => (deadlines.add(ring), () => deadlines.delete(ring)),
  )
  const send = async () => messengers.find('sms')?.messenger.send({} as OutboundMessage)
  const first = Array.from({ length: 100 }, send)
  expect(await send()).toEqual({ state: 'retry', reason: 'Too many messages are in flight.' })
  for (const ring of deadlines) ring()
  for (const sent of await Promise.all(first))
    expect(sent).toEqual({ state: 'retry', reason: 'The messenger did not answer.' })
  deadlines.clear()
  const next = send()
  for (const ring of deadlines) ring()
  expect(await next).toEqual({ state: 'retry', reason: 'The messenger did not answer.' })
})
