import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCheckout } from '../../../src/actions/payments/openCheckout.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { GuardedAccount } from '../../../src/runtime/providers/guard.ts'
import type { ProviderAccounts } from '../../../src/runtime/providerAccounts.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import type { Db, Query } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { yes } from '../../support/payments/rows.ts'
import { testRuntime } from '../../support/gateway/runtime.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
beforeAll(async () => void (shop = await openShop()))
afterAll(() => shop.stop())

const no: Reply = { state: 'failed', reason: 'declined' }

// Something happens right after each statement, as if it came from elsewhere.
const interrupted = (db: Db, happens: () => Promise<unknown>): Db => ({
  ...db,
  withQuota: verb => interrupted(db.withQuota(verb), happens),
  withDeadline: deadline => interrupted(db.withDeadline(deadline), happens),
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
    const { checkouts } = testRuntime({ db, masterKeys: givenMasterKeys([]) })
    const checkout = await openCheckout({ ...shop.runtime, checkouts }, payment.tx_token)
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

test('where a tester answers is the provider’s to say', async () => {
  const payment = await shop.ask(await shop.addMerchant())
  await shop.try(payment, { state: 'pending' })
  const { providerAccounts } = shop.runtime
  const knowing = (testerPage?: (attempt_id: string) => string): ProviderAccounts => ({
    ...providerAccounts,
    findFor: attempt => ({ ...(providerAccounts.findFor(attempt) as GuardedAccount), testerPage }),
  })
  const pageBy = async (given: ProviderAccounts) =>
    (await openCheckout({ ...shop.runtime, providerAccounts: given }, payment.tx_token))?.testerPage
  const [attempt] = await attemptsOf(shop.db, payment.merchant_id, payment.tx_reference)
  expect(await pageBy(knowing(id => `/play/${id}`))).toBe(`/play/${attempt?.attempt_id}`)
  expect(await pageBy(knowing())).toBeUndefined()
})

test('whoever looks at once shares one statement, and each gets its own payment as it stands alone', async () => {
  const [one, other] = [await shop.addMerchant(), await shop.addMerchant('Kofi Shop')]
  const payments = [await shop.ask(one), await shop.ask(one), await shop.ask(other)]
  await shop.try(payments[1] as Payment, { state: 'pending' })
  let statements = 0
  const db = interrupted(shop.db, async () => void statements++)
  const runtime = { ...shop.runtime, ...testRuntime({ db, masterKeys: givenMasterKeys([]) }) }
  const { clock, providerAccounts } = shop.runtime
  const tokens = payments.map(({ tx_token }) => tx_token)
  const nobodys = `${one.merchant_id}${(tokens[2] as string).slice(10)}` // of another merchant
  const asked = [...tokens, nobodys, tokens[0] as string]
  const together = await Promise.all(
    asked.map(token => openCheckout({ ...runtime, clock, providerAccounts }, token)),
  )
  expect(statements).toBe(1)
  const alone = []
  for (const token of asked) alone.push(await openCheckout(shop.runtime, token))
  expect(together).toEqual(alone)
  expect(together.map(each => each?.tx_reference)).toEqual([
    ...payments.map(({ tx_reference }) => tx_reference),
    undefined,
    payments[0]?.tx_reference,
  ])
  expect(together.map(each => each?.attempts.length)).toEqual([0, 1, 0, undefined, 0])
  expect(together[2]?.merchant_name).toBe('Kofi Shop')
})
