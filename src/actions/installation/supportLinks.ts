import { randomBytes } from 'node:crypto'
import {
  isLinkShaped,
  linkAddress,
  linkDigest,
  linkMinutes,
  type OperatorKeys,
} from '../../core/operator/operatorKeys.ts'
import type { Db } from '../../store/db.ts'
import { addSupportLink, removeExpiredLinks, takeSupportLink } from '../../store/installation/installation.ts'

export type SupportLink = { link: string; expires_at: Date }

// A single-use link that signs one browser in. Only its digest is stored. Expired links are deleted at the same time.
export async function makeSupportLink(
  db: Db,
  keys: Pick<OperatorKeys, 'linkKey'>,
  baseUrl: string,
  now: Date,
): Promise<SupportLink> {
  const link = randomBytes(16).toString('base64url')
  const expires_at = new Date(now.getTime() + linkMinutes * 60_000)
  await removeExpiredLinks(db, now)
  await addSupportLink(db, linkDigest(keys, link), expires_at)
  return { link: linkAddress(baseUrl, link), expires_at }
}

// Returns whether the link was valid, and invalidates it.
export const useSupportLink = async (
  db: Db,
  keys: Pick<OperatorKeys, 'linkKey'>,
  link: string,
  now: Date,
): Promise<boolean> => isLinkShaped(link) && (await takeSupportLink(db, linkDigest(keys, link), now))
