import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'
import { type ManualWorker, createManualWorker } from './manualWorker.ts'
import { useDeliveryFixture } from './fixture.ts'

const fixture = useDeliveryFixture(2)
let worker: ManualWorker
let key: NotificationKey
beforeAll(() => void (worker = createManualWorker(fixture)))
beforeEach(async () => void (key = await worker.notify()))

const days = (count: number) => hours(24 * count)

describe('the contact of the merchant gets a notice of an exhausted notification', () => {
  test('once, if the result was accepted', async () => {
    const tried = worker.finishedTry(await worker.takeOne(key), worker.exhausted(), 'dev@shop.example')
    expect(await worker.notices()).toEqual([])
    await worker.save(tried)
    await worker.save(tried)
    expect(await worker.notices()).toEqual(['dev@shop.example'])
  })

  test('not for a result in the same commit whose lease was lost', async () => {
    const kofi = await worker.notify(fixture.ids[1])
    const late = await worker.take(key, kofi)
    fixture.pass(seconds(31))
    await worker.take(kofi)
    await worker.save(
      ...late.map(taken => worker.finishedTry(taken, worker.exhausted(), `dev@${taken.merchant_id}.example`)),
    )
    expect(await worker.notices()).toEqual([`dev@${key.merchant_id}.example`])
    expect([await worker.find(key), await worker.find(kofi)]).toMatchObject([
      { exhausted_at: after(seconds(31)) },
      { exhausted_at: null },
    ])
    expect([await worker.tryNumbers(key), await worker.tryNumbers(kofi)]).toEqual([[1], [1]])
  })

  test('not a day later, from a worker that lost its lease long before', async () => {
    const late = await worker.takeOne(key)
    fixture.pass(seconds(31))
    await worker.save(worker.finishedTry(await worker.takeOne(key), worker.exhausted(), 'dev@shop.example'))
    fixture.pass(days(1)) // there is one mail a day
    await worker.save(worker.finishedTry(late, worker.exhausted(), 'dev@shop.example'))
    expect([await worker.notices(), await worker.tryNumbers(key)]).toEqual([['dev@shop.example'], [1, 2]])
  })

  test('not without a contact', async () => {
    await worker.save(worker.finishedTry(await worker.takeOne(key), worker.exhausted()))
    expect([await worker.notices(), (await worker.find(key)).exhausted_at]).toEqual([[], noon])
  })
})
