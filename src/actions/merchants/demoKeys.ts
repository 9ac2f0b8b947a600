import type { Runtime } from '../../runtime/runtime.ts'
import { listMerchantKeys } from '../../store/merchants/credentials.ts'
import { demoId } from './onboard.ts'

export type DemoKeys = { merchant_key: string; secret_key: string }

// The newest test keys of the demo merchant, for the pages of a gateway that only its own machine can reach. Undefined if
// there is no active demo merchant. No other secret is ever shown twice.
export async function findDemoKeys({
  db,
  callers,
  clock,
}: Pick<Runtime, 'db' | 'callers' | 'clock'>): Promise<DemoKeys | undefined> {
  const keys = await listMerchantKeys(db, demoId)
  const now = clock()
  const newest = keys.findLast(({ mode, expires_at }) => mode === 'test' && (!expires_at || expires_at > now))
  if (!newest) return undefined
  const { caller } = await callers.find(newest.merchant_key)
  const [secret] = caller?.active ? caller.secrets : [] // the secret as text, before its other readings
  return secret && { merchant_key: newest.merchant_key, secret_key: secret.toString('utf8') }
}
