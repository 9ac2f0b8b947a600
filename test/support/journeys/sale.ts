import { expect, vi } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { eventsOf } from '../../../src/store/payments/events.ts'
import type { TestGateway, TestMerchant } from '../gateway/gateway.ts'
import { checkStatus, post, signedRequest } from '../merchant/merchant.ts'

const becomes = { timeout: 45_000, interval: 200 }

export type Sale = Awaited<ReturnType<typeof askFor>>

// A payment that a shop has requested, and its rows in the database.
export async function askFor(
  { url, db }: TestGateway,
  { merchant_id, test: keys }: TestMerchant,
  fields: Record<string, unknown> = {},
) {
  const { body } = await post(url, signedRequest(keys, fields))
  const { invoice_id, tx_reference, tx_token, checkout_url } = body as Record<string, string>
  expect(checkout_url, JSON.stringify(body)).toBe(`${url}/checkout/${tx_token}`)
  const { merchant_key } = keys
  const statusOf = async () => (await checkStatus(url, { merchant_key, invoice_id: invoice_id ?? '' })).body
  return {
    address: checkout_url ?? '',
    tx_reference: tx_reference ?? '',
    statusOf,
    becomes: (status: string) =>
      vi.waitFor(async () => expect((await statusOf()).status).toBe(status), becomes),
    attempts: () => attemptsOf(db, merchant_id, tx_reference ?? ''),
    // Its statuses, in order.
    history: async () =>
      (await eventsOf(db, merchant_id, tx_reference ?? '')).flatMap(({ to_status }) => to_status ?? []),
    isLate: async () =>
      (await db.one<{ late: boolean }>(sql`select late from payments where tx_reference = ${tx_reference}`))
        ?.late,
    charges: () =>
      db.rows(sql`select c.* from sandbox_charges c join attempts a on a.merchant_id = c.merchant_id
        and a.attempt_id = c.reference where a.tx_reference = ${tx_reference}`),
    tasks: () => db.rows<{ kind: string }>(sql`select * from tasks where tx_reference = ${tx_reference}`),
    // Moves the end of its ended attempts into the past.
    endedAgo: (ms: number) =>
      db.rows(sql`update attempts set ended_at = ${new Date(Date.now() - ms)}
        where tx_reference = ${tx_reference} and ended_at is not null`),
  }
}
