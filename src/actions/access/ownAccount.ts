import { hash } from 'node:crypto'
import type { Actor } from '../../core/access/audit.ts'
import { type PasswordFault, passwordFault } from '../../core/access/password.ts'
import { isTotpSecret, recoveryCodes, recoveryDigest, stepOfCode } from '../../core/access/secondFactor.ts'
import type { User } from '../../core/access/user.ts'
import { newRecoveryCode } from '../../runtime/ids.ts'
import {
  lockUser,
  savePassword,
  saveProfile,
  saveRecoveryDigests,
  saveSecondFactor,
} from '../../store/access/users.ts'
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

const newCodes = () => Array.from({ length: recoveryCodes }, newRecoveryCode)
const digestsOf = (user_id: string, codes: readonly string[]) =>
  codes.map(code => recoveryDigest(user_id, code) as string)

type Setup = { secret: string; code: string; mark: string }
export type NewSecondFactor = { sessionId: string; codes: readonly string[] }

// Stores the key of an authenticator app after one code of it. All other sessions end.
export async function setUpSecondFactor(
  { db, masterKeys }: Pick<SignInDeps, 'db' | 'masterKeys'>,
  { user }: SignedIn,
  { secret, code, mark }: Setup,
  { actor, browser, now }: OwnChange,
): Promise<NewSecondFactor | 'wrong_code' | 'changed'> {
  const step = isTotpSecret(secret) ? stepOfCode(secret, code, now) : undefined
  if (step === undefined) return 'wrong_code'
  const { user_id } = user
  const sealed_totp = (await totpVault(db, masterKeys)).seal(user_id, secret)
  const codes = newCodes()
  return audited(db, actor, now, async (tx, record) => {
    const stored = await lockUser(tx, user_id)
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
  { user }: SignedIn,
  { actor, browser, now }: OwnChange,
): Promise<string | undefined> {
  if (user.operator_role) return undefined
  return audited(db, actor, now, async (tx, record) => {
    await lockUser(tx, user.user_id)
    await saveSecondFactor(tx, user.user_id, { sealed_totp: null, totp_step: null, recovery_digests: [] })
    await record(entry('user.second_factor_remove', user.user_id))
    await mailPerson(tx, user, 'second_factor_off', {}, now)
    return renewUserSession(tx, user.user_id, browser, now)
  })
}

// The codes before them end.
export async function renewRecoveryCodes(
  { db }: Pick<SignInDeps, 'db'>,
  { user }: SignedIn,
  { actor, now }: Omit<OwnChange, 'browser'>,
): Promise<readonly string[]> {
  const codes = newCodes()
  await audited(db, actor, now, async (tx, record) => {
    await saveRecoveryDigests(tx, user.user_id, digestsOf(user.user_id, codes))
    await record(entry('user.recovery_codes', user.user_id))
  })
  return codes
}

// All sessions end, and this browser gets a new one.
export async function changePassword(
  { db, hasher }: Pick<SignInDeps, 'db' | 'hasher'>,
  { user }: SignedIn,
  password: string,
  { actor, browser, now }: OwnChange,
): Promise<{ sessionId: string } | PasswordFault> {
  const fault = passwordFault(password, [user.email, user.name])
  if (fault) return fault
  const hashed = await hasher.hash(password)
  return audited(db, actor, now, async (tx, record) => {
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
    await saveProfile(tx, user.user_id, profile)
    // A name is personal, so only the language is recorded.
    await record({
      ...entry('user.change', user.user_id),
      before: { lang: user.lang },
      after: { lang: profile.lang },
    })
  })
