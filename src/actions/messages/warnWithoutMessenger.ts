import type { Medium } from '../../core/message/messenger.ts'
import type { Messengers } from '../../runtime/messengers.ts'
import type { Tx } from '../../store/db.ts'
import { hasLiveKey } from '../../store/merchants/merchantKeys.ts'

const names: readonly (readonly [Medium, string])[] = [
  ['sms', 'SMS'],
  ['email', 'email'],
]

// What an operator who takes real money should hear at the start: some customers will not be told.
export async function warnWithoutMessenger(
  db: Tx,
  messengers: Pick<Messengers, 'configured'>,
): Promise<string[]> {
  const missing = names.filter(([medium]) => !messengers.configured(medium))
  if (missing.length === 0 || !(await hasLiveKey(db))) return []
  return missing.map(
    ([, name]) =>
      `Customers get no ${name}: no messenger is set up for it. What they would get is at /inbox.`,
  )
}
