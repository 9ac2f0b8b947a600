import { hash, randomBytes } from 'node:crypto'
import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import {
  isSessionAlive,
  type Membership,
  sessionTimes,
  type User,
  type UserSession,
} from '../../core/access/user.ts'
import {
  addSession,
  findSession,
  findUser,
  hasUsers,
  membershipsOf,
  removeSession,
  removeSessionsOfUser,
  saveConfirmed,
  saveSeen,
  sessionsOfUser,
} from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { audited } from './audit.ts'

export type SignedIn = {
  user: User
  session: UserSession
  memberships: readonly (Membership & { merchant_name: string })[]
}

const sessionId = /^[\w-]{43}$/ // 256 random bits
const digestOfSession = (id: string) => hash('sha256', id, 'base64url')

export type Browser = { address: string; agent: string }

// Returns the id for the cookie. A new one is made at every sign-in and at every change of rights.
export async function startUserSession(
  tx: Tx,
  user_id: string,
  { address, agent }: Browser,
  now: Date,
): Promise<string> {
  const id = randomBytes(32).toString('base64url')
  await addSession(tx, {
    session_digest: digestOfSession(id),
    user_id,
    created_at: now,
    seen_at: now,
    ends_at: new Date(now.getTime() + sessionTimes.absoluteMs),
    confirmed_at: now,
    address,
    agent: agent.slice(0, 200),
  })
  return id
}

// The user of a cookie. Undefined if the session has ended or the user was deactivated. The demo ends with the first real
// user.
export async function signedInUser(db: Db, id: string | undefined, now: Date): Promise<SignedIn | undefined> {
  if (id === undefined || !sessionId.test(id)) return undefined
  const session = await findSession(db, digestOfSession(id))
  if (!session || !isSessionAlive(session, now)) return undefined
  const [user, memberships] = await Promise.all([
    findUser(db, session.user_id),
    membershipsOf(db, session.user_id),
  ])
  if (!user?.active || (user.is_demo && (await hasUsers(db)))) return undefined
  if (now.getTime() - session.seen_at.getTime() >= sessionTimes.seenEveryMs)
    await saveSeen(db, session.session_digest, now)
  return { user, session, memberships }
}

export const endUserSession = async (tx: Tx, id: string) =>
  sessionId.test(id) ? removeSession(tx, digestOfSession(id)) : 0

export const signOut = (db: Db, { session }: SignedIn) => removeSession(db, session.session_digest)

// After a change of the user's own password or second factor: every session ends, and this browser gets a new one.
export async function renewUserSession(
  tx: Tx,
  user_id: string,
  browser: Browser,
  now: Date,
): Promise<string> {
  await removeSessionsOfUser(tx, user_id)
  return startUserSession(tx, user_id, browser, now)
}

export const confirmSession = (db: Db, { session }: SignedIn, now: Date) =>
  saveConfirmed(db, session.session_digest, now)

// The sessions that have not ended, the last used first.
export const listUserSessions = async (db: Db, user_id: string, now: Date) =>
  (await sessionsOfUser(db, user_id)).filter(session => isSessionAlive(session, now))

// Ends one session of the user. The id is the digest, as the list shows it.
export const endSessionOf = (db: Db, { user }: SignedIn, session_digest: string, actor: Actor, now: Date) =>
  audited(db, actor, now, async (tx, record) => {
    const session = await findSession(tx, session_digest)
    const ended = session?.user_id === user.user_id ? await removeSession(tx, session_digest) : 0
    if (ended > 0) await record(endedEntry(user, ended))
    return ended
  })

export const endOtherSessions = (db: Db, { user, session }: SignedIn, actor: Actor, now: Date) =>
  audited(db, actor, now, async (tx, record) => {
    const ended = await removeSessionsOfUser(tx, user.user_id, session.session_digest)
    if (ended > 0) await record(endedEntry(user, ended))
    return ended
  })

const endedEntry = ({ user_id }: User, sessions: number): AuditEntry => ({
  merchant_id: null,
  action: 'user.sessions_end',
  subject: user_id,
  before: null,
  after: { sessions },
})
