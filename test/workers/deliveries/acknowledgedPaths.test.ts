import { beforeAll, expect, test } from 'vitest'
import type { Candidate } from '../../../src/core/notification/admit.ts'
import type { Status } from '../../../src/core/payment/payment.ts'
import { sql } from '../../../src/store/db.ts'
import { AcknowledgedPaths, type PromotedPath } from '../../../src/workers/deliveries/acknowledgedPaths.ts'
import { forgetOldPaths } from '../../../src/workers/deliveries/worker.ts'
import { hours } from '../../support/payments/rows.ts'
import { useDeliveryFixture } from './fixture.ts'

const fixture = useDeliveryFixture()
let ama: string
beforeAll(() => void (ama = fixture.ids[0] as string))

const at = (path: string) => `https://shop.example${path}`

function openPaths() {
  const promoted: PromotedPath[] = []
  const paths = new AcknowledgedPaths({
    db: fixture.db,
    clock: fixture.clock,
    trouble(error) {
      throw error
    },
  })
  return {
    promoted,
    flushed: () => paths.flushed(),
    acknowledge(path: string, times = 1, status: Status = 'cancelled') {
      for (let time = 0; time < times; time++)
        promoted.push(
          ...[paths.count({ merchant_id: ama, mode: 'live', url: at(path), status }) ?? []].flat(),
        )
    },
    async laneOf(path: string, lane = 'live/shared-1/https://shop.example:443') {
      const one = { merchant_id: ama, mode: 'live', url: at(path), lane } as Candidate
      await paths.assignLanes([one])
      return one.lane.split('/')[1]
    },
  }
}
const rows = async () => (await fixture.db.rows(sql`select from acknowledged_paths`)).length

test('the path acknowledged most has its acknowledged lane, whatever the query', async () => {
  const { acknowledge, laneOf } = openPaths()
  expect(await laneOf('/ipn')).toMatch(/^shared-[123]$/)
  acknowledge('/ipn', 2)
  acknowledge('/other')
  for (const path of ['/ipn', '/ipn?order=1', '/a/../ipn#x']) expect(await laneOf(path)).toBe('acknowledged')
  for (const path of ['/other', '/ipn/', '/']) expect(await laneOf(path)).toMatch(/^shared-[123]$/)
})

test('a delivery that an earlier version stored gets the lane of its address', async () => {
  const { acknowledge, laneOf } = openPaths()
  acknowledge('/ipn')
  expect(await laneOf('/ipn', 'https://shop.example:443')).toBe('acknowledged')
  expect(await laneOf('/bad', 'https://shop.example:443')).toMatch(/^shared-[123]$/)
})

test('any number of cancelled payments to another path do not outrank one that was paid', async () => {
  const { acknowledge, laneOf, promoted } = openPaths()
  acknowledge('/ipn', 1, 'paid')
  acknowledge('/decoy', 500)
  for (let n = 0; n < 100; n++) acknowledge(`/decoy${n}`, 3)
  expect(await laneOf('/ipn')).toBe('acknowledged')
  expect(promoted).toHaveLength(1)
})

test('a new process reads the counts; after a day without sales the former path keeps its lane', async () => {
  const before = openPaths()
  before.acknowledge('/ipn', 3)
  await before.flushed()
  expect(await openPaths().laneOf('/ipn')).toBe('acknowledged')
  fixture.pass(hours(60))
  await forgetOldPaths(fixture.db, fixture.clock())
  const later = openPaths()
  expect(await later.laneOf('/ipn')).toBe('acknowledged')
  later.acknowledge('/new')
  expect(await later.laneOf('/new')).toBe('acknowledged')
  await later.flushed()
  await forgetOldPaths(fixture.db, fixture.clock())
  expect(await rows()).toBe(1)
})

test('unique paths do not fill the table: 16 per origin stay', async () => {
  for (let round = 0; round < 3; round++) {
    const { acknowledge, flushed } = openPaths()
    for (let n = 0; n < 40; n++) acknowledge(`/p${round}-${n}`)
    await flushed()
  }
  expect(await rows()).toBeLessThanOrEqual(48)
  await forgetOldPaths(fixture.db, fixture.clock())
  expect(await rows()).toBe(16)
})
