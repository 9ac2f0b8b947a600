import type { Fields } from '../../core/interface/json.ts'
import { hmac, requestString } from '../../core/interface/signature.ts'
import type { Mode } from '../../core/mode.ts'
import type { Tx } from '../../store/db.ts'
import { type Caller, findCallers } from '../../store/merchants/callers.ts'
import { listMerchantKeys } from '../../store/merchants/merchantKeys.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'

// The merchant by its newest key of the mode that has not expired; undefined where it has none.
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

// Adds merchant_key and secure_hash, as the merchant's own server does. Without a secret that can be opened there is no
// hash, and the request is refused like any other unsigned one.
export function signRequest<Request extends Fields & { invoice_id: string; total: string }>(
  { merchant_key, secrets: [secret] }: Caller,
  request: Request,
) {
  const text = requestString(request.invoice_id, merchant_key, request.total)
  return { merchant_key, ...request, ...(secret && { secure_hash: hmac(secret, text).toString('hex') }) }
}
