import { type Db, sql } from '../../src/store/db.ts'
import type { Entry } from '../payments/walk/provider.ts'
import { readDeliveries, type StoredDelivery } from '../support/deliveries/recordingReceiver.ts'
import type { Received } from '../support/merchant/receiver.ts'
import { readPayments, type StoredPayment } from '../support/payments/paymentDatabase.ts'
import type { SimulatedProvider } from '../support/providers/simulatedProviders.ts'
import type { Installation } from './installation.ts'
import type { Load, Sale } from './load.ts'

// Everything that a checker reads: what the shops were answered and have received, what the providers did, and what the
// database has.
export type Evidence = {
  sales: readonly Sale[]
  shops: readonly Pick<SimulatedProvider, 'merchant_id' | 'shop'>[]
  payments: readonly StoredPayment[]
  deliveries: readonly StoredDelivery[]
  orders: readonly (Entry & { provider: string })[]
  received: readonly Received[]
}

export async function readEvidence(
  { world, shops }: Installation,
  { sales }: Pick<Load, 'sales'>,
  db: Pick<Db, 'rows' | 'transaction'> = world.db,
): Promise<Evidence> {
  const payments: StoredPayment[] = []
  for (const { merchant_id } of world.providers) {
    const rows = await db.rows<{ tx_reference: string }>(sql`
      select tx_reference from payments where merchant_id = ${merchant_id}`)
    const references = rows.map(({ tx_reference }) => tx_reference)
    payments.push(...(await readPayments(db, merchant_id, references)))
  }
  return {
    sales,
    shops: world.providers,
    payments,
    deliveries: await readDeliveries(db),
    orders: world.providers.flatMap(({ name, entries }) =>
      entries().map(entry => ({ ...entry, provider: name })),
    ),
    received: shops.flatMap(({ receiver }) => receiver.received),
  }
}
