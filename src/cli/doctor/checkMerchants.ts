import { unreadableMerchants } from '../../actions/merchants/setMerchant.ts'
import type { Db } from '../../store/db.ts'
import { type Check, failed, fine } from './check.ts'

const named = 5

// Settings that this version cannot read.
export async function checkMerchants(db: Db): Promise<Check> {
  const found = await unreadableMerchants(db)
  if (found.length === 0) return fine('merchants', 'every setting of every merchant can be read')
  const some = found
    .slice(0, named)
    .map(({ merchant_id, settings }) => `${merchant_id} (${settings.join(', ')})`)
  const more = found.length > named ? ` and ${found.length - named} more` : ''
  const fact = `settings that cannot be read: ${some.join('; ')}${more}`
  const todo = 'Set them anew: tollgate merchant set ID NAME=VALUE. Until then what they guard is shut.'
  return failed('merchants', fact, todo)
}
