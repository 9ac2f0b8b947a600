import type { Mode } from '../../core/mode.ts'
import { newIpnSecret, newSecretId } from '../../runtime/ids.ts'
import type { Db, Tx } from '../../store/db.ts'
import { ipnSecretPurpose } from '../../store/merchants/callers.ts'
import { addIpnSecret, expireIpnSecrets, isLive, listIpnSecrets } from '../../store/merchants/ipnSecrets.ts'
import { lockMerchant } from '../../store/merchants/merchants.ts'
import { type MasterKeys, sealSecret, unwrapKey } from '../../store/merchants/vault.ts'

export type RotatedIpnSecret = {
  merchant_id: string
  mode: Mode
  ipn_secret: string
  old_secret_valid_until: string
}

// Issues a new signing secret; the one before it signs too until the overlap ends. Gives back undefined when there is
// no such merchant.
export function rotateIpnSecret(
  db: Db,
  masterKeys: MasterKeys,
  merchant_id: string,
  mode: Mode,
  overlapMs: number,
  now: Date,
): Promise<RotatedIpnSecret | undefined> {
  const secret_id = newSecretId()
  const ipn_secret = newIpnSecret()
  const until = new Date(now.getTime() + overlapMs)
  return db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return undefined
    const dataKey = unwrapKey(masterKeys, merchant_id, merchant)
    const sealed_secret = sealSecret(dataKey, ipnSecretPurpose(merchant_id, mode, secret_id), ipn_secret)
    await addIpnSecret(tx, { merchant_id, mode, secret_id, sealed_secret, created_at: now, expires_at: null })
    await endOthers(tx, { merchant_id, mode, secret_id }, until, now)
    return { merchant_id, mode, ipn_secret, old_secret_valid_until: until.toISOString() }
  })
}

type NewSecret = { merchant_id: string; mode: Mode; secret_id: string }

// Two sign at most: every signature more is a header that grows and a secret that may have leaked.
async function endOthers(tx: Tx, { merchant_id, mode, secret_id }: NewSecret, until: Date, now: Date) {
  const [previous, ...older] = (await listIpnSecrets(tx, merchant_id))
    .filter(secret => secret.mode === mode && secret.secret_id !== secret_id && isLive(secret, now))
    .map(secret => secret.secret_id)
    .toReversed()
  if (previous) await expireIpnSecrets(tx, merchant_id, mode, [previous], until)
  if (older.length > 0) await expireIpnSecrets(tx, merchant_id, mode, older, now)
}
