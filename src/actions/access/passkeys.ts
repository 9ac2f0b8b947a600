import { hash, randomBytes } from 'node:crypto'
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import {
  challengeProof,
  challengeSeconds,
  maxPasskeys,
  type Passkey,
  type PasskeySite,
  provenChallenge,
} from '../../core/access/passkey.ts'
import { accountKey } from '../../core/access/signInTokens.ts'
import {
  addPasskey,
  findPasskey,
  passkeysOf,
  removePasskey,
  takeChallenge,
  usePasskey,
} from '../../store/access/passkeys.ts'
import { findUser, lockUser } from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { audited } from './audit.ts'
import { mailPerson } from './mailPerson.ts'
import type { OwnChange } from './ownAccount.ts'
import type { SignedIn } from './sessions.ts'
import { completeSignIn, type SignedInNow, type SignInDeps, type SigningBrowser } from './signIn.ts'

const timeout = challengeSeconds * 1000

// `options` is for the browser's credentials API, `proof` for a cookie.
export type PasskeyQuestion = { options: object; proof: string }
export type PasskeyAnswer = { credential: string; proof: string }

type PasskeyDeps = { db: Db; formKey: Buffer }

export const listPasskeys = (db: Db, user_id: string) => passkeysOf(db, user_id)

export async function askToRegister(
  { db, formKey }: PasskeyDeps,
  { rpId }: PasskeySite,
  { user, session }: SignedIn,
  now: Date,
): Promise<PasskeyQuestion> {
  const known = await passkeysOf(db, user.user_id)
  const options = await generateRegistrationOptions({
    rpName: 'Tollgate',
    rpID: rpId,
    userID: Uint8Array.from(Buffer.from(user.user_id)),
    userName: user.email,
    userDisplayName: user.name,
    challenge: Uint8Array.from(randomBytes(32)),
    timeout,
    attestationType: 'none',
    excludeCredentials: known.map(({ passkey_id }) => ({ id: passkey_id })),
    // Only a passkey that checks the person counts as both factors.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  const { challenge } = options
  return { options, proof: challengeProof(formKey, { challenge, of: session.session_digest }, now) }
}

export type AddedPasskey = 'done' | 'failed' | 'full'

export async function registerPasskey(
  { db, formKey }: PasskeyDeps,
  site: PasskeySite,
  { user, session }: SignedIn,
  { credential, proof, name }: PasskeyAnswer & { name: string },
  { actor, now }: Omit<OwnChange, 'browser'>,
): Promise<AddedPasskey> {
  const challenge = provenChallenge(formKey, proof, session.session_digest, now)
  if (challenge === undefined || user.is_demo) return 'failed'
  const response = readCredential(credential) as RegistrationResponseJSON | undefined
  const verified = response && (await verifyNew(site, response, challenge))
  if (!verified) return 'failed'
  const { id, publicKey, counter } = verified
  return audited(db, actor, now, async (tx, record) => {
    if (!(await takeAnswered(tx, challenge, now))) return 'failed'
    await lockUser(tx, user.user_id)
    if ((await passkeysOf(tx, user.user_id)).length >= maxPasskeys) return 'full'
    const isNew = await addPasskey(tx, {
      passkey_id: id,
      user_id: user.user_id,
      name,
      public_key: Buffer.from(publicKey),
      sign_count: BigInt(counter),
      created_at: now,
      used_at: null,
    })
    if (!isNew) return 'failed'
    await record(entryOf(user.user_id, 'user.passkey_add'))
    await mailPerson(tx, user, 'passkey_added', {}, now)
    return 'done'
  })
}

const entryOf = (user_id: string, action: string) => ({
  merchant_id: null,
  action,
  subject: user_id,
  before: null,
  after: null,
})

// Two submissions remove it once.
export const removeOwnPasskey = (
  { db }: Pick<PasskeyDeps, 'db'>,
  { user }: SignedIn,
  passkey_id: string,
  { actor, now }: Omit<OwnChange, 'browser'>,
): Promise<boolean> =>
  audited(db, actor, now, async (tx, record) => {
    if (!(await removePasskey(tx, user.user_id, passkey_id))) return false
    await record(entryOf(user.user_id, 'user.passkey_remove'))
    await mailPerson(tx, user, 'passkey_removed', {}, now)
    return true
  })

// Names no account: the browser offers the passkeys that it has for this site.
export async function askToSignIn(
  formKey: Buffer,
  { rpId }: PasskeySite,
  now: Date,
): Promise<PasskeyQuestion> {
  const options = await generateAuthenticationOptions({
    rpID: rpId,
    challenge: Uint8Array.from(randomBytes(32)),
    timeout,
    userVerification: 'required',
  })
  return { options, proof: challengeProof(formKey, { challenge: options.challenge, of: '' }, now) }
}

// A passkey is both factors: the device, and its PIN, finger or face.
export async function signInWithPasskey(
  deps: SignInDeps,
  site: PasskeySite,
  { credential, proof }: PasskeyAnswer,
  browser: SigningBrowser,
  now: Date,
): Promise<SignedInNow | { step: 'wrong' }> {
  const wrong = { step: 'wrong' } as const
  const { db, formKey, limits } = deps
  const response = readCredential(credential) as AuthenticationResponseJSON | undefined
  const challenge = provenChallenge(formKey, proof, '', now)
  const account = accountKey(response?.id ?? '')
  const undo = limits.trySignIn({ kind: 'passkey', account, address: browser.address })
  if (!response || challenge === undefined) return wrong
  const passkey = await findPasskey(db, response.id)
  const count = passkey && (await verifyKnown(site, response, challenge, passkey))
  if (!passkey || count === undefined) return wrong
  const user = await db.transaction(async tx => {
    if (!(await takeAnswered(tx, challenge, now))) return undefined
    return (await usePasskey(tx, passkey, count, now)) ? findUser(tx, passkey.user_id) : undefined
  })
  if (!user?.active) return wrong
  undo()
  return completeSignIn(deps, user, browser, now)
}

const takeAnswered = (tx: Tx, challenge: string, now: Date) =>
  takeChallenge(tx, hash('sha256', challenge, 'base64url'), new Date(now.getTime() + timeout), now)

const maxCredential = 20_000

// Only its outer shape is checked here: the library checks the rest, and throws.
function readCredential(text: string): { id: string } | undefined {
  try {
    const value: unknown = text.length > maxCredential ? undefined : JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const { id } = value as { id?: unknown }
    return typeof id === 'string' && /^[\w-]{1,1400}$/.test(id) ? { ...value, id } : undefined
  } catch {
    return undefined
  }
}

const expected = ({ rpId, origin }: PasskeySite, challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: origin,
  expectedRPID: rpId,
  requireUserVerification: true,
})

async function verifyNew(site: PasskeySite, response: RegistrationResponseJSON, challenge: string) {
  try {
    const result = await verifyRegistrationResponse({ response, ...expected(site, challenge) })
    return result.verified ? result.registrationInfo.credential : undefined
  } catch {
    return undefined // whatever the browser sent is no passkey for this site
  }
}

// The new count; undefined if the answer is wrong, or the count is not higher than that of the last use.
async function verifyKnown(
  site: PasskeySite,
  response: AuthenticationResponseJSON,
  challenge: string,
  { passkey_id, public_key, sign_count }: Passkey,
): Promise<bigint | undefined> {
  try {
    const credential = {
      id: passkey_id,
      publicKey: Uint8Array.from(public_key),
      counter: Number(sign_count),
    }
    const result = await verifyAuthenticationResponse({ response, credential, ...expected(site, challenge) })
    return result.verified ? BigInt(result.authenticationInfo.newCounter) : undefined
  } catch {
    return undefined
  }
}
