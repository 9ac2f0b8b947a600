import type { Db } from '../../store/db.ts'
import { findMerchant, listMerchants } from '../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { onboard } from './onboard.ts'
import { findRequestSigner, signRequest } from './signRequest.ts'

// A fixed id that no generated one can equal: their alphabet has no "o".
export const demoId = 'demoshop00'

export type Welcome = {
  name: string
  merchant_key: string
  secret_key?: string // on the first start only
  ipn_secret?: string // the same
  request: Record<string, string | boolean> // signed, ready to send
}

// On a database without merchants: a demo merchant in test mode, so that a newcomer can send a payment at
// once. Later starts find it again and do not show its secret.
export async function welcome(db: Db, masterKeys: MasterKeys, now: Date): Promise<Welcome | undefined> {
  const isNew = (await listMerchants(db)).length === 0
  const demo = isNew ? (await onboard(db, masterKeys, 'Demo Shop', ['test'], now, demoId)).test : undefined
  const merchant = await findMerchant(db, demoId)
  const signer = await findRequestSigner(db, masterKeys, demoId, 'test', now)
  if (!merchant?.active || !signer) return undefined
  const request = signRequest(signer, {
    invoice_id: `DEMO-${Math.floor(now.getTime() / 1000)}`,
    total: '25.00',
    description: 'Two straw hats',
    number: '0241234567',
    email: 'ama@example.com',
    generate_checkout_url: true,
  })
  return {
    name: merchant.name,
    merchant_key: signer.merchant_key,
    secret_key: demo?.secret_key,
    ipn_secret: demo?.ipn_secret,
    request,
  }
}
