import { sql, type Tx } from '../db.ts'

export const addSupportLink = (tx: Tx, link_digest: string, expires_at: Date) =>
  tx.rows(sql`
    insert into support_links (link_digest, expires_at) values (${link_digest}, ${expires_at})
    on conflict (link_digest) do nothing`)

// One statement, so that of several nodes only one finds the link. Returns whether it was valid.
export const takeSupportLink = async (tx: Tx, link_digest: string, now: Date): Promise<boolean> =>
  (await tx.count(sql`
    delete from support_links where link_digest = ${link_digest} and expires_at > ${now}`)) > 0

export const removeExpiredLinks = (tx: Tx, now: Date) =>
  tx.count(sql`delete from support_links where expires_at <= ${now}`)
