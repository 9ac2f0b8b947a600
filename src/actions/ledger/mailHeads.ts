import type { Messenger } from '../../core/message/messenger.ts'
import { startOfDay } from '../../core/zone.ts'
import type { Db } from '../../store/db.ts'
import { releaseMailOfDay, sealHeads, takeMailOfDay } from '../../store/ledger/seals.ts'

export type HeadMail = { to: string; messenger: Pick<Messenger, 'send'> }

// Mails the heads of all chains once a day. A person who changes the ledger and its seals cannot change a mail that was sent.
export async function mailHeads(
  db: Db,
  { to, messenger }: HeadMail,
  zone: string,
  now: Date,
): Promise<boolean> {
  const day = startOfDay(now, zone)
  const heads = await sealHeads(db)
  if (heads.length === 0 || !(await takeMailOfDay(db, day, now))) return false
  const lines = heads.map(
    ({ merchant_id, number, until_at, digest }) =>
      `${merchant_id} ${number}:${digest.toString('hex')} until ${until_at.toISOString()}`,
  )
  const text = [
    'The heads of the ledger, one line for each merchant. Keep this mail.',
    'tollgate ledger verify --merchant ID --expect NUMBER:DIGEST checks that the ledger still has it; for the line audit,',
    'tollgate audit verify --expect NUMBER:DIGEST checks the audit log.',
    '',
    ...lines,
  ].join('\n')
  const id = `ledger-${day.toISOString()}`
  const subject = `Tollgate: ledger heads of ${day.toISOString().slice(0, 10)}`
  const result = await messenger.send({ id, to, subject, text, html: `<pre>${text}</pre>` })
  if (result.state === 'sent') return true
  await releaseMailOfDay(db, day)
  throw new Error(`The heads of the ledger were not mailed: ${result.reason}`)
}
