import type { Mode } from '../../core/mode.ts'
import { newIpnPassword, newIpnSecret, newMerchantKey, newSecretId, newSecretKey } from '../../runtime/ids.ts'
import type { Db, Tx } from '../../store/db.ts'
import { apiSecretPurpose, ipnPasswordPurpose, ipnSecretPurpose } from '../../store/merchants/callers.ts'
import {
  addIpnSecret,
  addMerchantKey,
  expireIpnSecrets,
  expireMerchantKeys,
  isLive,
  listIpnSecrets,
} from '../../store/merchants/credentials.ts'
import { lockMerchant, type Merchant, saveIpnPassword } from '../../store/merchants/merchants.ts'
import { type MasterKeys, sealSecret, unwrapKey } from '../../store/merchants/vault.ts'

export type { MasterKeys }

// Runs the work in a transaction that holds the lock of the merchant. Undefined if there is no such merchant.
const withDataKey = <T>(
  db: Db,
  masterKeys: MasterKeys,
  merchant_id: string,
  work: (tx: Tx, dataKey: Buffer) => Promise<T>,
) =>
  db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    return merchant && work(tx, unwrapKey(masterKeys, merchant_id, merchant))
  })

// Issues a new API key and secret. The older keys of the mode stay valid for the overlap.
export function rotateKey(
  db: Db,
  masterKeys: MasterKeys,
  merchant_id: string,
  mode: Mode,
  overlapMs: number,
  now: Date,
) {
  const merchant_key = newMerchantKey(mode)
  const secret_key = newSecretKey()
  const until = new Date(now.getTime() + overlapMs)
  return withDataKey(db, masterKeys, merchant_id, async (tx, dataKey) => {
    const sealed_secret = sealSecret(dataKey, apiSecretPurpose(merchant_id, mode, merchant_key), secret_key)
    const dates = { created_at: now, expires_at: null }
    await addMerchantKey(tx, { merchant_id, merchant_key, mode, sealed_secret, ...dates })
    await expireMerchantKeys(tx, merchant_id, mode, merchant_key, until)
    return { merchant_id, mode, merchant_key, secret_key, old_keys_valid_until: until.toISOString() }
  })
}

// Issues a new signing secret for notifications. The previous one signs, too, until the overlap ends.
export function rotateIpnSecret(
  db: Db,
  masterKeys: MasterKeys,
  merchant_id: string,
  mode: Mode,
  overlapMs: number,
  now: Date,
) {
  const secret_id = newSecretId()
  const ipn_secret = newIpnSecret()
  const until = new Date(now.getTime() + overlapMs)
  return withDataKey(db, masterKeys, merchant_id, async (tx, dataKey) => {
    const sealed_secret = sealSecret(dataKey, ipnSecretPurpose(merchant_id, mode, secret_id), ipn_secret)
    await addIpnSecret(tx, { merchant_id, mode, secret_id, sealed_secret, created_at: now, expires_at: null })
    await expireOldSecrets(tx, { merchant_id, mode, secret_id }, until, now)
    return { merchant_id, mode, ipn_secret, old_secret_valid_until: until.toISOString() }
  })
}

type NewSecret = { merchant_id: string; mode: Mode; secret_id: string }

// At most two secrets sign: each additional signature makes the header longer and keeps an old secret in use.
async function expireOldSecrets(tx: Tx, { merchant_id, mode, secret_id }: NewSecret, until: Date, now: Date) {
  const [previous, ...older] = (await listIpnSecrets(tx, merchant_id))
    .filter(secret => secret.mode === mode && secret.secret_id !== secret_id && isLive(secret, now))
    .map(secret => secret.secret_id)
    .toReversed()
  if (previous) await expireIpnSecrets(tx, merchant_id, mode, [previous], until)
  if (older.length > 0) await expireIpnSecrets(tx, merchant_id, mode, older, now)
}

// The passwords of notifications in style basic. Each mode has its own, so that a test server does not get the live one.
export type IpnPasswords = Record<Mode, string>

export async function makeIpnPasswords(
  tx: Tx,
  masterKeys: MasterKeys,
  merchant: Merchant,
): Promise<IpnPasswords> {
  const { merchant_id } = merchant
  const dataKey = unwrapKey(masterKeys, merchant_id, merchant)
  return {
    test: await makeIpnPassword(tx, dataKey, merchant_id, 'test'),
    live: await makeIpnPassword(tx, dataKey, merchant_id, 'live'),
  }
}

async function makeIpnPassword(tx: Tx, dataKey: Buffer, merchant_id: string, mode: Mode) {
  const ipn_password = newIpnPassword()
  const sealed = sealSecret(dataKey, ipnPasswordPurpose(merchant_id, mode), ipn_password)
  await saveIpnPassword(tx, merchant_id, mode, sealed)
  return ipn_password
}

// The new password is valid from the next try on, without an overlap: HTTP Basic sends a single password.
export const rotateIpnPassword = (db: Db, masterKeys: MasterKeys, merchant_id: string, mode: Mode) =>
  withDataKey(db, masterKeys, merchant_id, async (tx, dataKey) => ({
    merchant_id,
    mode,
    ipn_password: await makeIpnPassword(tx, dataKey, merchant_id, mode),
  }))

// Uses the merchant's id, which is not secret, as the password: old clients accept nothing else.
export const useMerchantId = (db: Db, merchant_id: string, mode: Mode) =>
  db.transaction(async tx => {
    if (!(await lockMerchant(tx, merchant_id))) return undefined
    await saveIpnPassword(tx, merchant_id, mode, null)
    return { merchant_id, mode, ipn_password: merchant_id }
  })
