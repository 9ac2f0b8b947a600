import { tokenActor } from '../../core/access/audit.ts'
import { type PasswordFault, passwordFault } from '../../core/access/password.ts'
import { type User, userEmail } from '../../core/access/user.ts'
import { newUserId } from '../../runtime/ids.ts'
import type { PasswordHasher } from '../../runtime/passwordHasher.ts'
import {
  addUser,
  findUser,
  hasUsers,
  removeSessionsOfUser,
  saveMembership,
} from '../../store/access/users.ts'
import type { Db } from '../../store/db.ts'
import { lockInstallation } from '../../store/installation/installation.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import { demoId } from '../merchants/onboard.ts'
import { audited } from '../access/audit.ts'
import { type Browser, startUserSession } from '../access/sessions.ts'

// Generated ids have no "o".
export const demoUserId = 'u_demovisitor'

export const hasRealUsers = (db: Db): Promise<boolean> => hasUsers(db)

const noCredentials = { password_hash: null, sealed_totp: null, totp_step: null }

// Signs a browser in as the owner of the demo shop and as operator. Undefined once a real user exists, or without the shop.
export function startDemoSession(db: Db, browser: Browser, now: Date): Promise<string | undefined> {
  const actor = tokenActor(browser.address)
  return audited(db, actor, now, async (tx, record) => {
    const [isOver, shop] = await Promise.all([hasUsers(tx), findMerchant(tx, demoId)])
    if (isOver || !shop?.active) return undefined
    await addUser(tx, {
      user_id: demoUserId,
      email: 'demo', // no address, so nobody can type it or get a mail
      name: 'Demo',
      lang: 'en',
      ...noCredentials,
      operator_role: 'admin',
      is_demo: true,
      active: true,
      created_at: now,
      signed_in_at: now,
    })
    await saveMembership(tx, {
      merchant_id: demoId,
      user_id: demoUserId,
      role: 'owner',
      outlets: null,
      created_at: now,
    })
    await record(entry('user.sign_in', demoUserId))
    return startUserSession(tx, demoUserId, browser, now)
  })
}

const entry = (action: string, subject: string, after: Record<string, unknown> | null = null) => ({
  merchant_id: null,
  action,
  subject,
  before: null,
  after,
})

type FirstAccount = Pick<User, 'email' | 'name' | 'lang'> & { password: string }

// The account of the operator, who invites everybody else. Of two browsers one creates it: both lock the row of the
// installation. The sessions of the demo end.
export async function createFirstAccount(
  { db, hasher }: { db: Db; hasher: PasswordHasher },
  typed: FirstAccount,
  browser: Browser,
  now: Date,
): Promise<{ sessionId: string } | PasswordFault | 'exists'> {
  const { name, lang, password } = typed
  const email = userEmail(typed.email)
  const fault = passwordFault(password, [email, name])
  if (fault) return fault
  if (await hasUsers(db)) return 'exists'
  const password_hash = await hasher.hash(password)
  const user_id = newUserId()
  return audited(db, tokenActor(browser.address), now, async (tx, record) => {
    await lockInstallation(tx)
    const isSecondRun = (await findUser(tx, user_id)) !== undefined // the commit of the first was not confirmed
    if (!isSecondRun && (await hasUsers(tx))) return 'exists'
    await addUser(tx, {
      ...noCredentials,
      user_id,
      email,
      name,
      lang,
      password_hash,
      operator_role: 'admin',
      active: true,
      created_at: now,
      signed_in_at: now,
    })
    await removeSessionsOfUser(tx, demoUserId)
    await record(entry('user.first_account', user_id, { operator_role: 'admin' }))
    return { sessionId: await startUserSession(tx, user_id, browser, now) }
  })
}
