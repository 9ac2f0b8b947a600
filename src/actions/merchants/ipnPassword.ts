import { newIpnPassword } from '../../runtime/ids.ts'
import type { Db, Tx } from '../../store/db.ts'
import { ipnPasswordPurpose } from '../../store/merchants/callers.ts'
import { lockMerchant, type Merchant, saveIpnPassword } from '../../store/merchants/merchants.ts'
import { type MasterKeys, sealSecret, unwrapKey } from '../../store/merchants/vault.ts'

// The password that notifications in style basic log in with. One for both modes: the login's name is the merchant key,
// which tells them apart, and what a notification says is asked for again anyway.
export async function makeIpnPassword(tx: Tx, masterKeys: MasterKeys, merchant: Merchant): Promise<string> {
  const { merchant_id } = merchant
  const ipn_password = newIpnPassword()
  const dataKey = unwrapKey(masterKeys, merchant_id, merchant)
  await saveIpnPassword(tx, merchant_id, sealSecret(dataKey, ipnPasswordPurpose(merchant_id), ipn_password))
  return ipn_password
}

export type RotatedIpnPassword = { merchant_id: string; ipn_password: string }

// A new one, which holds from the next try on: a login has one password. Undefined when there is no such merchant.
export const rotateIpnPassword = (db: Db, masterKeys: MasterKeys, merchant_id: string) =>
  db.transaction(async (tx): Promise<RotatedIpnPassword | undefined> => {
    const merchant = await lockMerchant(tx, merchant_id)
    return merchant && { merchant_id, ipn_password: await makeIpnPassword(tx, masterKeys, merchant) }
  })

// For an old client, which knows nothing else: the merchant's id, which is no secret.
export const useMerchantId = (db: Db, merchant_id: string) =>
  db.transaction(async (tx): Promise<RotatedIpnPassword | undefined> => {
    if (!(await lockMerchant(tx, merchant_id))) return undefined
    await saveIpnPassword(tx, merchant_id, null)
    return { merchant_id, ipn_password: merchant_id }
  })
