import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { until } from '../tools.ts'
import { open, sms } from './bench.ts'

describe('receipts', () => {
  for (const [stat, state] of [
    ['DELIVRD', 'delivered'],
    ['UNDELIV', 'lost'],
    ['EXPIRED', 'lost'],
    ['DELETED', 'lost'],
    ['REJECTD', 'lost'],
    ['ACCEPTD', undefined],
    ['ENROUTE', undefined],
    ['UNKNOWN', undefined],
    ['', undefined],
  ] as const)
    test(`${stat || 'no status'}: ${state ?? 'not final'}`, async () => {
      const { centre, messenger, receipts } = await open()
      await messenger.send(sms())
      expect((await centre.receipt('m1', stat)).command).toBe('deliver_sm_resp')
      await sleep(150)
      const reason = state === 'lost' ? `${stat}, error 012` : stat
      expect(receipts).toEqual(state ? [{ provider_ref: 'm1', state, reason }] : [])
    })

  test('by tags instead of text', async () => {
    const { centre, messenger, receipts } = await open()
    await messenger.send(sms())
    for (const message_state of [1, 2, 6])
      await centre.ask('deliver_sm', {
        esm_class: 4,
        short_message: '',
        receipted_message_id: 'm1',
        message_state,
      })
    await until(() => receipts.length > 0)
    expect(receipts).toEqual([{ provider_ref: 'm1', state: 'delivered', reason: 'DELIVRD' }])
  })

  test('before the response to its submit: reported after it', async () => {
    const { centre, messenger, receipts } = await open({ answer: () => ({ late: 300 }) })
    const order: string[] = []
    const sending = messenger.send(sms()).then(() => order.push(`sent, ${receipts.length} receipts`))
    await until(() => centre.submits.length > 0)
    await centre.receipt('m1', 'DELIVRD')
    await sending
    await until(() => receipts.length > 0)
    expect(order).toEqual(['sent, 0 receipts'])
  })

  test('for a message that an earlier process sent', async () => {
    const { centre, receipts } = await open()
    await until(() => centre.binds.length > 0)
    await centre.receipt('from-before', 'DELIVRD')
    await until(() => receipts.length > 0)
    expect(receipts).toMatchObject([{ provider_ref: 'from-before', state: 'delivered' }])
  })

  test('of several parts: delivered with the last, lost with any', async () => {
    const { centre, messenger, receipts } = await open()
    await messenger.send(sms('abc '.repeat(60)))
    await centre.receipt('m2', 'DELIVRD')
    await sleep(150)
    expect(receipts).toEqual([])
    await centre.receipt('m1', 'DELIVRD')
    await until(() => receipts.length > 0)
    await messenger.send(sms('def '.repeat(60)))
    await centre.receipt('m4', 'UNDELIV')
    await until(() => receipts.length > 1)
    expect(receipts).toMatchObject([
      { provider_ref: 'm1', state: 'delivered' },
      { provider_ref: 'm3', state: 'lost' },
    ])
  })

  for (const [name, ref, id] of [
    ['the same', '7ab3f00c', '7ab3f00c'],
    ['hexadecimal, then decimal', '7AB3F00C', '2058612748'],
    ['hexadecimal, then decimal with zeros', '2B5C1F0A', '0727457546'],
    ['decimal, then hexadecimal', '2058612748', '7ab3f00c'],
    ['with zeros', '0000123456', '123456'],
    ['in capitals', '9f3c-00aa', '9F3C-00AA'],
  ] as const)
    test(`ids ${name}`, async () => {
      const { centre, messenger, receipts } = await open({ ids: () => ref })
      expect(await messenger.send(sms())).toEqual({ state: 'sent', provider_ref: ref })
      await centre.receipt(id, 'DELIVRD')
      await until(() => receipts.length > 0)
      expect(receipts).toMatchObject([{ provider_ref: ref }])
    })

  test('an SMS from a person is acknowledged and dropped, whatever its text', async () => {
    const { centre, messenger, receipts } = await open()
    await messenger.send(sms())
    expect((await centre.receipt('m1', 'UNDELIV', { esm_class: 0 })).command_status).toBe(0)
    expect((await centre.ask('deliver_sm', { short_message: 'STOP', data_coding: 8 })).command_status).toBe(0)
    expect(
      (
        await centre.ask('deliver_sm', {
          short_message: Buffer.from([255, 0, 1]),
          data_coding: 4,
          esm_class: 0x40,
        })
      ).command_status,
    ).toBe(0)
    expect((await centre.ask('data_sm', { message_payload: 'hello' })).command_status).toBe(0)
    await sleep(150)
    expect(receipts).toEqual([])
  })
})
