import type { Db } from '../../store/db.ts'
import { liveMerchants } from '../../store/merchants/merchants.ts'
import { passwordState, rotateCommand } from '../merchant/ipnPassword.ts'
import { hasNoOrigins, registerCommand } from '../merchant/origins.ts'
import { type Check, fine, warning } from './check.ts'

const named = 5

// What merchants have left open that they could close with one command.
export async function checkOrigins(db: Db): Promise<Check[]> {
  const merchants = await liveMerchants(db)
  const open = merchants.filter(({ settings }) => hasNoOrigins(settings)).map(idOf)
  const guessable = merchants.filter(one => passwordState(one) === 'merchant_id').map(idOf)
  return [
    open.length === 0
      ? fine('origins', 'every merchant has registered where its customers may be led')
      : warning(
          'origins',
          `a payment may lead the customer on to any address: no origins are registered for ${some(open)}`,
          `Register the shop's own: ${registerCommand(open[0] ?? '')}`,
        ),
    ...(guessable.length === 0
      ? []
      : [
          warning(
            'passwords',
            `the password of notifications in style basic is the merchant_id, which is no secret, for ${some(guessable)}`,
            `Make one and give it to the shop: ${rotateCommand(guessable[0] ?? '')}`,
          ),
        ]),
  ]
}

const idOf = ({ merchant_id }: { merchant_id: string }) => merchant_id
const some = (ids: readonly string[]) =>
  ids.slice(0, named).join(', ') + (ids.length > named ? ` and ${ids.length - named} more` : '')
