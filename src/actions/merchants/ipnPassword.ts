import type { Mode } from '../../core/mode.ts'
import { newIpnPassword } from '../../runtime/ids.ts'
import type { Db, Tx } from '../../store/db.ts'
import { ipnPasswordPurpose } from '../../store/merchants/callers.ts'
import { lockMerchant, type Merchant, saveIpnPassword } from '../../store/merchants/merchants.ts'
import { type MasterKeys, sealSecret, unwrapKey } from '../../store/merchants/vault.ts'

// The passwords that notifications in style basic log in with, one per mode: whoever runs a test server does not know
// the live one.
export type IpnPasswords = Record<Mode, string>

export const makeIpnPasswords = async (
  tx: Tx,
  masterKeys: MasterKeys,
  merchant: Merchant,
): Promise<IpnPasswords> => ({
  test: await makeIpnPassword(tx, masterKeys, merchant, 'test'),
  live: await makeIpnPassword(tx, masterKeys, merchant, 'live'),
})

async function makeIpnPassword(
  tx: Tx,
  masterKeys: MasterKeys,
  merchant: Merchant,
  mode: Mode,
): Promise<string> {
  const { merchant_id } = merchant
  const ipn_password = newIpnPassword()
  const dataKey = unwrapKey(masterKeys, merchant_id, merchant)
  const sealed = sealSecret(dataKey, ipnPasswordPurpose(merchant_id, mode), ipn_password)
  await saveIpnPassword(tx, merchant_id, mode, sealed)
  return ipn_password
}

export type RotatedIpnPassword = { merchant_id: string; mode: Mode; ipn_password: string }

// A new one, which holds from the next try on: a login has one password. Undefined when there is no such merchant.
export const rotateIpnPassword = (db: Db, masterKeys: MasterKeys, merchant_id: string, mode: Mode) =>
  db.transaction(async (tx): Promise<RotatedIpnPassword | undefined> => {
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return undefined
    return { merchant_id, mode, ipn_password: await makeIpnPassword(tx, masterKeys, merchant, mode) }
  })

// For an old client, which knows nothing else: the merchant's id, which is no secret.
export const useMerchantId = (db: Db, merchant_id: string, mode: Mode) =>
  db.transaction(async (tx): Promise<RotatedIpnPassword | undefined> => {
    if (!(await lockMerchant(tx, merchant_id))) return undefined
    await saveIpnPassword(tx, merchant_id, mode, null)
    return { merchant_id, mode, ipn_password: merchant_id }
  })
