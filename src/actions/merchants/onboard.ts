import type { Fields } from '../../core/interface/json.ts'
import { hmac, requestString } from '../../core/interface/signature.ts'
import type { Mode } from '../../core/mode.ts'
import { newIpnSecret, newMerchantId, newMerchantKey, newSecretId, newSecretKey } from '../../runtime/ids.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  apiSecretPurpose,
  type Caller,
  findCallers,
  ipnSecretPurpose,
} from '../../store/merchants/callers.ts'
import { addIpnSecret, addMerchantKey, listMerchantKeys } from '../../store/merchants/credentials.ts'
import { addMerchant, findMerchant, listMerchants } from '../../store/merchants/merchants.ts'
import { type MasterKeys, newDataKey, sealSecret, wrapKey } from '../../store/merchants/vault.ts'

export type Credentials = { merchant_key: string; secret_key: string; ipn_secret: string }
export type Onboarded = { merchant_id: string; name: string } & Partial<Record<Mode, Credentials>>

// Registers a merchant. Its secrets are returned in clear only here.
export async function onboard(
  db: Db,
  masterKeys: MasterKeys,
  name: string,
  modes: readonly Mode[],
  now: Date,
  merchant_id = newMerchantId(),
): Promise<Onboarded> {
  const dataKey = newDataKey()
  const wrapped = wrapKey(masterKeys, merchant_id, dataKey)
  const issued = modes.map(mode => ({
    mode,
    secret_id: newSecretId(),
    credentials: {
      merchant_key: newMerchantKey(mode),
      secret_key: newSecretKey(),
      ipn_secret: newIpnSecret(),
    },
  }))
  await db.transaction(async tx => {
    await addMerchant(tx, { merchant_id, name, active: true, settings: {}, ...wrapped, created_at: now })
    for (const { mode, secret_id, credentials } of issued) {
      const { merchant_key, secret_key, ipn_secret } = credentials
      const api = sealSecret(dataKey, apiSecretPurpose(merchant_id, mode, merchant_key), secret_key)
      const ipn = sealSecret(dataKey, ipnSecretPurpose(merchant_id, mode, secret_id), ipn_secret)
      const dates = { created_at: now, expires_at: null }
      await addMerchantKey(tx, { merchant_id, merchant_key, mode, sealed_secret: api, ...dates })
      await addIpnSecret(tx, { merchant_id, mode, secret_id, sealed_secret: ipn, ...dates })
    }
  })
  return {
    merchant_id,
    name,
    ...Object.fromEntries(issued.map(({ mode, credentials }) => [mode, credentials])),
  }
}

// No generated id can be equal: their alphabet has no "o".
export const demoId = 'demoshop00'

export type Welcome = {
  name: string
  merchant_key: string
  secret_key?: string // on the first start only
  ipn_secret?: string // the same
  request: Record<string, string | boolean> // signed, ready to send
}

// Adds a demo merchant in test mode to a database without merchants, so that a first payment request can be sent at once.
// Later starts find it again and do not show its secrets.
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
  const { secret_key, ipn_secret } = demo ?? {}
  return { name: merchant.name, merchant_key: signer.merchant_key, secret_key, ipn_secret, request }
}

// The merchant with its newest key of the mode that has not expired; undefined if there is none.
export async function findRequestSigner(
  tx: Tx,
  masterKeys: MasterKeys,
  merchant_id: string,
  mode: Mode,
  now: Date,
): Promise<Caller | undefined> {
  const keys = await listMerchantKeys(tx, merchant_id)
  const key = keys.findLast(one => one.mode === mode && (!one.expires_at || one.expires_at > now))
  if (!key) return undefined
  const [caller] = await findCallers(tx, masterKeys, [key.merchant_key])
  return caller
}

// Adds merchant_key and secure_hash, as the merchant's server does. If the secret cannot be opened, there is no hash, and
// the request is refused like any unsigned one.
export function signRequest<Request extends Fields & { invoice_id: string; total: string }>(
  { merchant_key, secrets: [secret] }: Caller,
  request: Request,
) {
  const text = requestString(request.invoice_id, merchant_key, request.total)
  return { merchant_key, ...request, ...(secret && { secure_hash: hmac(secret, text).toString('hex') }) }
}
