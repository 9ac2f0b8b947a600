import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCheckout } from '../../../src/actions/payments/openCheckout.ts'
import type { Reply } from '../../../src/core/channel/channel.ts'
import type { Channels, GuardedChannel } from '../../../src/runtime/channels.ts'
import type { Db, Query } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { yes } from '../../support/lifeRows.ts'
import { openShop, type TestShop } from '../../support/shop.ts'

let shop: TestShop
beforeAll(async () => void (shop = await openShop()))
afterAll(() => shop.stop())

const no: Reply = { state: 'failed', reason: 'declined' }

// Something happens right after each statement, as if it came from elsewhere.
const interrupted = (db: Db, happens: () => Promise<unknown>): Db => ({
  ...db,
  share: verb => interrupted(db.share(verb), happens),
  rows: async <Row>(query: Query) => {
    const rows = await db.rows<Row>(query)
    await happens()
    return rows
  },
  one: async <Row>(query: Query) => {
    const row = await db.one<Row>(query)
    await happens()
    return row
  },
})

for (const [what, reply] of [
  ['paid', yes],
  ['refused', no],
] as const)
  test(`a payment that is ${what} while its page is made never looks untried`, async () => {
    const payment = await shop.ask(await shop.addMerchant())
    await shop.try(payment, { state: 'pending' })
    const db = interrupted(shop.db, () => shop.hear(payment, reply))
    const checkout = await openCheckout({ ...shop.runtime, db }, payment.tx_token)
    expect(checkout?.stage).toBe('wait')
    expect((await openCheckout(shop.runtime, payment.tx_token))?.stage).not.toBe('wait')
  })

test('the attempts on the page are those in the books, to the last field', async () => {
  const payment = await shop.ask(await shop.addMerchant())
  await shop.try(payment, no)
  shop.setNow(new Date(Date.now() + 60_000))
  await shop.try(payment, yes)
  const checkout = await openCheckout(shop.runtime, payment.tx_token)
  expect(checkout?.attempts).toHaveLength(2)
  expect(checkout?.attempts).toEqual(await attemptsOf(shop.db, payment.merchant_id, payment.tx_reference))
})

test('where a tester answers is the channel’s to say', async () => {
  const payment = await shop.ask(await shop.addMerchant())
  await shop.try(payment, { state: 'pending' })
  const { channels } = shop.runtime
  const knowing = (testerPage?: (attempt_id: string) => string): Channels => ({
    ...channels,
    find: name => ({ ...(channels.find(name) as GuardedChannel), testerPage }),
  })
  const pageBy = async (given: Channels) =>
    (await openCheckout({ ...shop.runtime, channels: given }, payment.tx_token))?.testerPage
  const [attempt] = await attemptsOf(shop.db, payment.merchant_id, payment.tx_reference)
  expect(await pageBy(knowing(id => `/play/${id}`))).toBe(`/play/${attempt?.attempt_id}`)
  expect(await pageBy(knowing())).toBeUndefined()
})
