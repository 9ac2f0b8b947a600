import { nodeOfToken } from '../../core/nodes.ts'
import { sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { type PaymentKey, paymentKeysOf } from '../payments/paymentKeys.ts'

// The numbers of the nodes that have deliveries in their hands, by the word of their leases.
export async function nodesWithLeases(tx: Tx, now: Date): Promise<number[]> {
  const held = await tx.rows<{ token: string }>(sql`
    select distinct split_part(lease_token, '-', 1) || '-' as token from deliveries
    where next_try_at is not null and lease_until > ${now} and lease_token like 'n%-%'`)
  return held.flatMap(({ token }) => nodeOfToken(token) ?? [])
}

// The leases of a node that is dead are over; gives back how many. The tokens stay: should it live after all, what it
// brings counts until somebody else has taken the delivery.
export const endLeasesOf = (tx: Tx, node: number, now: Date) =>
  tx.count(sql`
    update deliveries set lease_until = ${now}
    where next_try_at is not null and lease_until > ${now} and lease_token like ${`n${node}-%`}`)

// What was written with this lease and never sent is due again, as if it had never been taken; gives back how many.
export function undoLeases(tx: Tx, keys: readonly PaymentKey[], token: string): Promise<number> {
  const { merchants, references } = paymentKeysOf(keys)
  return tx.count(sql`
    update deliveries d set lease_token = null, lease_until = null, tries = d.tries - 1
    from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.lease_token = ${token}
      and d.next_try_at is not null and ${ofMerchants('d', keys)}`)
}
