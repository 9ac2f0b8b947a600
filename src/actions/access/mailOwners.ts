import type { OwnerAlert } from '../../core/access/ownerAlert.ts'
import { newUserMailId } from '../../runtime/ids.ts'
import { addUserMail } from '../../store/access/userMails.ts'
import { ownersOfMerchant } from '../../store/access/users.ts'
import type { Tx } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'

// Queues a mail to each owner of the merchant, in the transaction of the change. `by` is the name of the user who did it.
export async function mailOwners(
  tx: Tx,
  merchant_id: string,
  { change, by }: { change: OwnerAlert; by: string },
  now: Date,
) {
  const [merchant, owners] = await Promise.all([
    findMerchant(tx, merchant_id),
    ownersOfMerchant(tx, merchant_id),
  ])
  for (const { email, lang } of owners)
    await addUserMail(tx, {
      mail_id: newUserMailId(),
      email,
      lang,
      kind: 'alert',
      details: { merchant: merchant?.name ?? merchant_id, change, by, at: now.toISOString() },
      created_at: now,
    })
}
