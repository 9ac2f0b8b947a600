import { randomBytes } from 'node:crypto'
import type { Actor } from '../../core/access/audit.ts'
import { recoveryDigest, stepOfCode } from '../../core/access/secondFactor.ts'
import {
  accountKey,
  claimedUser,
  deviceOf,
  isPendingSignIn,
  newDeviceMark,
  newPendingSignIn,
} from '../../core/access/signInTokens.ts'
import { type User, userEmail } from '../../core/access/user.ts'
import type { PasswordHasher } from '../../runtime/passwordHasher.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import {
  findUser,
  findUserByEmail,
  removeEndedSessions,
  saveSignedIn,
  takeRecoveryCode,
  takeTotpStep,
} from '../../store/access/users.ts'
import type { Db } from '../../store/db.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { audited } from './audit.ts'
import { type Browser, endUserSession, startUserSession } from './sessions.ts'
import { totpVault } from './totpVault.ts'

export type SignInDeps = {
  db: Db
  hasher: PasswordHasher
  limits: Pick<RateLimits, 'trySignIn'>
  masterKeys: MasterKeys
  formKey: Buffer
}

// What the browser sends besides the form: the mark of an earlier sign-in, and the session that it already has.
export type SigningBrowser = Browser & { deviceMark?: string; sessionId?: string }

export type SignedInNow = { step: 'done'; sessionId: string; deviceMark: string; user: User }
type PasswordResult = SignedInNow | { step: 'second_factor'; pending: string } | { step: 'wrong' }

// Every answer for a wrong password, an unknown address and a deactivated user is the same, after the same work.
export async function signInWithPassword(
  deps: SignInDeps,
  typed: { email: string; password: string },
  browser: SigningBrowser,
  now: Date,
): Promise<PasswordResult> {
  const email = userEmail(typed.email)
  const undo = countGuess(deps, 'password', email, browser, now)
  const user = await findUserByEmail(deps.db, email)
  const isRight = await deps.hasher.matches(user?.password_hash, typed.password)
  if (!isRight || !user?.active || !user.password_hash) return { step: 'wrong' }
  undo()
  if (user.sealed_totp)
    return {
      step: 'second_factor',
      pending: newPendingSignIn(deps.formKey, user.user_id, user.password_hash, now),
    }
  return completeSignIn(deps, user, browser, now)
}

// Counts a guess as wrong before it is compared. The result takes that back.
export const countGuess = (
  { limits, formKey }: Pick<SignInDeps, 'limits' | 'formKey'>,
  kind: 'password' | 'code',
  email: string,
  { address, deviceMark }: SigningBrowser,
  now: Date,
) =>
  limits.trySignIn({
    kind,
    account: accountKey(email),
    address,
    device: deviceOf(formKey, deviceMark, email, now),
  })

// `ended`: too much time has passed since the password, or it was changed meanwhile.
export async function signInWithCode(
  deps: SignInDeps,
  pending: string,
  code: string,
  browser: SigningBrowser,
  now: Date,
): Promise<SignedInNow | { step: 'wrong' } | { step: 'ended' }> {
  const user = await pendingUser(deps, pending, now)
  if (!user) return { step: 'ended' }
  const undo = countGuess(deps, 'code', user.email, browser, now)
  if (!(await acceptCode(deps, user, code, now))) return { step: 'wrong' }
  undo()
  return completeSignIn(deps, user, browser, now)
}

export async function pendingUser(
  { db, formKey }: Pick<SignInDeps, 'db' | 'formKey'>,
  pending: string,
  now: Date,
): Promise<User | undefined> {
  const user_id = claimedUser(pending)
  const user = user_id === undefined ? undefined : await findUser(db, user_id)
  if (!user?.active || !user.password_hash) return undefined
  return isPendingSignIn(formKey, pending, user.password_hash, now) ? user : undefined
}

// A code of the authenticator app or a recovery code. Each is accepted once.
export async function acceptCode(
  { db, masterKeys }: Pick<SignInDeps, 'db' | 'masterKeys'>,
  { user_id, sealed_totp }: Pick<User, 'user_id' | 'sealed_totp'>,
  code: string,
  now: Date,
): Promise<boolean> {
  if (!sealed_totp) return false
  const digest = recoveryDigest(user_id, code)
  if (digest !== undefined) return takeRecoveryCode(db, user_id, digest)
  const { open } = await totpVault(db, masterKeys)
  const step = stepOfCode(open(user_id, sealed_totp), code, now)
  return step !== undefined && takeTotpStep(db, user_id, step)
}

// A new session with a new id. The one that the browser had ends.
export async function completeSignIn(
  { db, formKey }: Pick<SignInDeps, 'db' | 'formKey'>,
  user: User,
  browser: SigningBrowser,
  now: Date,
): Promise<SignedInNow> {
  const actor: Actor = { kind: 'user', id: user.user_id, address: browser.address }
  const sessionId = await audited(db, actor, now, async (tx, record) => {
    if (browser.sessionId !== undefined) await endUserSession(tx, browser.sessionId)
    await removeEndedSessions(tx, user.user_id, now)
    await saveSignedIn(tx, user.user_id, now)
    await record(signInEntry(user))
    return startUserSession(tx, user.user_id, browser, now)
  })
  const deviceMark = newDeviceMark(formKey, user.email, randomBytes(9).toString('base64url'), now)
  return { step: 'done', sessionId, deviceMark, user }
}

const signInEntry = ({ user_id }: User) => ({
  merchant_id: null,
  action: 'user.sign_in',
  subject: user_id,
  before: null,
  after: null,
})
