import { hash } from 'node:crypto'
import type { Actor } from '../../core/access/audit.ts'
import { type PasswordFault, passwordFault } from '../../core/access/password.ts'
import { isTotpSecret, recoveryCodes, recoveryDigest, stepOfCode } from '../../core/access/secondFactor.ts'
import type { User } from '../../core/access/user.ts'
import { newRecoveryCode } from '../../runtime/ids.ts'
import {
  findSession,
  lockUser,
  savePassword,
  saveProfile,
  saveRecoveryDigests,
  saveSecondFactor,
} from '../../store/access/users.ts'
import type { Tx } from '../../store/db.ts'
import { audited } from './audit.ts'
import { mailPerson } from './mailPerson.ts'
import { type Browser, confirmSession, renewUserSession, type SignedIn } from './sessions.ts'
import { acceptCode, countGuess, type SignInDeps, type SigningBrowser } from './signIn.ts'
import { totpVault } from './totpVault.ts'

export type OwnChange = { actor: Actor; browser: Browser; now: Date }

// The password or a code again, before a sensitive change. Returns whether it was right.
export async function confirmIdentity(
  deps: SignInDeps,
  signedIn: SignedIn,
  typed: string,
  browser: SigningBrowser,
  now: Date,
): Promise<boolean> {
  const { user } = signedIn
  const isCode = user.sealed_totp !== null && /^\s*\d{3}\s?\d{3}\s*$/.test(typed)
  const undo = countGuess(deps, isCode ? 'code' : 'password', user.email, browser, now)
  const isRight = isCode
    ? await acceptCode(deps, user, typed, now)
    : await deps.hasher.matches(user.password_hash, typed)
  if (!isRight) return false
  undo()
  await confirmSession(deps.db, signedIn, now)
  return true
}

// Identifies the second factor that a form showed, so that of two forms one changes it.
export const secondFactorMark = ({ sealed_totp }: Pick<User, 'sealed_totp'>) =>
  sealed_totp ? hash('sha256', sealed_totp, 'base64url').slice(0, 16) : 'none'

const entry = (action: string, subject: string) => ({
  merchant_id: null,
  action,
  subject,
  before: null,
  after: null,
})

// The stored user, locked. Undefined if the session has ended: a change of the password or of the second factor ends all
// sessions, so of two submissions of a form the second finds its own gone.
async function lockOwnUser(tx: Tx, { user, session }: SignedIn): Promise<User | undefined> {
  const stored = await lockUser(tx, user.user_id)
  return (await findSession(tx, session.session_digest)) && stored
}

// Identifies the recovery codes that a form was opened with, so that of two forms one makes new ones.
export const recoveryMark = ({ recovery_digests }: Pick<User, 'recovery_digests'>) =>
  hash('sha256', recovery_digests.join(), 'base64url').slice(0, 16)

const newCodes = () => Array.from({ length: recoveryCodes }, newRecoveryCode)
const digestsOf = (user_id: string, codes: readonly string[]) =>
  codes.map(code => recoveryDigest(user_id, code) as string)

type Setup = { secret: string; code: string; mark: string }
export type NewSecondFactor = { sessionId: string; codes: readonly string[] }

// Stores the key of an authenticator app after one code of it. All other sessions end.
export async function setUpSecondFactor(
  { db, masterKeys }: Pick<SignInDeps, 'db' | 'masterKeys'>,
  signedIn: SignedIn,
  { secret, code, mark }: Setup,
  { actor, browser, now }: OwnChange,
): Promise<NewSecondFactor | 'wrong_code' | 'changed'> {
  const step = isTotpSecret(secret) ? stepOfCode(secret, code, now) : undefined
  if (step === undefined) return 'wrong_code'
  const { user } = signedIn
  const { user_id } = user
  const sealed_totp = (await totpVault(db, masterKeys)).seal(user_id, secret)
  const codes = newCodes()
  return audited(db, actor, now, async (tx, record) => {
    const stored = await lockOwnUser(tx, signedIn)
    if (!stored || secondFactorMark(stored) !== mark) return 'changed'
    await saveSecondFactor(tx, user_id, {
      sealed_totp,
      totp_step: step,
      recovery_digests: digestsOf(user_id, codes),
    })
    await record(entry('user.second_factor_add', user_id))
    await mailPerson(tx, user, 'second_factor_on', {}, now)
    return { sessionId: await renewUserSession(tx, user_id, browser, now), codes }
  })
}

// Operators cannot remove it. Returns the id of the new session.
export async function removeSecondFactor(
  { db }: Pick<SignInDeps, 'db'>,
  signedIn: SignedIn,
  { actor, browser, now }: OwnChange,
): Promise<string | undefined> {
  const { user } = signedIn
  if (user.operator_role) return undefined
  return audited(db, actor, now, async (tx, record) => {
    if (!(await lockOwnUser(tx, signedIn))) return undefined
    await saveSecondFactor(tx, user.user_id, { sealed_totp: null, totp_step: null, recovery_digests: [] })
    await record(entry('user.second_factor_remove', user.user_id))
    await mailPerson(tx, user, 'second_factor_off', {}, now)
    return renewUserSession(tx, user.user_id, browser, now)
  })
}

// The codes before them end. Undefined if they have changed since the form with this mark was opened.
export async function renewRecoveryCodes(
  { db }: Pick<SignInDeps, 'db'>,
  signedIn: SignedIn,
  mark: string,
  { actor, now }: Omit<OwnChange, 'browser'>,
): Promise<readonly string[] | undefined> {
  const { user_id } = signedIn.user
  const codes = newCodes()
  return audited(db, actor, now, async (tx, record) => {
    const stored = await lockOwnUser(tx, signedIn)
    if (!stored?.sealed_totp || recoveryMark(stored) !== mark) return undefined
    await saveRecoveryDigests(tx, user_id, digestsOf(user_id, codes))
    await record(entry('user.recovery_codes', user_id))
    return codes
  })
}

// All sessions end, and this browser gets a new one.
export async function changePassword(
  { db, hasher }: Pick<SignInDeps, 'db' | 'hasher'>,
  signedIn: SignedIn,
  password: string,
  { actor, browser, now }: OwnChange,
): Promise<{ sessionId: string } | PasswordFault | 'changed'> {
  const { user } = signedIn
  const fault = passwordFault(password, [user.email, user.name])
  if (fault) return fault
  const hashed = await hasher.hash(password)
  return audited<{ sessionId: string } | 'changed'>(db, actor, now, async (tx, record) => {
    if (!(await lockOwnUser(tx, signedIn))) return 'changed'
    await savePassword(tx, user.user_id, hashed)
    await record(entry('user.password_change', user.user_id))
    await mailPerson(tx, user, 'password', {}, now)
    return { sessionId: await renewUserSession(tx, user.user_id, browser, now) }
  })
}

export const changeProfile = (
  { db }: Pick<SignInDeps, 'db'>,
  { user }: SignedIn,
  profile: Pick<User, 'name' | 'lang'>,
  { actor, now }: Omit<OwnChange, 'browser'>,
) =>
  audited(db, actor, now, async (tx, record) => {
    const stored = await lockUser(tx, user.user_id)
    if (!stored || (stored.name === profile.name && stored.lang === profile.lang)) return
    await saveProfile(tx, user.user_id, profile)
    // A name is personal, so only the language is recorded.
    await record({
      ...entry('user.change', user.user_id),
      before: { lang: stored.lang },
      after: { lang: profile.lang },
    })
  })
