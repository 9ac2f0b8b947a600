import type { Config } from '../../config.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import type { Db } from '../../store/db.ts'
import { countPayers } from '../../store/payments/reports.ts'
import { type Check, fine, warning } from './check.ts'

const dayMs = 86_400_000
const many = 20 // tries of a day: fewer may well be one person's
const most = 1000 // of a merchant; more need not be counted to be told

// Whoever tries too often is stopped by address. Behind a proxy that we do not know of, all customers have one, and stop
// each other.
export async function checkPayers(db: Db, config: Config, now: Date): Promise<Check[]> {
  if (config.isForThisMachineOnly) return [] // everybody is on it
  const busy = await countPayers(db, firstReferenceAt(new Date(now.getTime() - dayMs)), many, most)
  if (busy.length === 0) return []
  const tries = busy.reduce((sum, merchant) => sum + merchant.tries, 0)
  if (busy.some(({ payers }) => payers > 1)) return [fine('customers', 'they come from different addresses')]
  const fact = `all ${tries >= most ? 'the' : tries} tries to pay of the last day seem to come from one address`
  const todo =
    'A proxy that stands before Tollgate hides the customers, who then share one limit of failures: set ' +
    `TOLLGATE_TRUST_PROXY to the number of proxies (it is ${config.TOLLGATE_TRUST_PROXY}).`
  return [warning('customers', fact, todo)]
}
