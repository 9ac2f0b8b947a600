import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SignInDeps, signInWithPassword } from '../../../src/actions/access/signIn.ts'
import { type User, userEmail } from '../../../src/core/access/user.ts'
import { newUserId } from '../../../src/runtime/ids.ts'
import { createPasswordHasher } from '../../../src/runtime/passwordHasher.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { addUser } from '../../../src/store/access/users.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'

const password = 'four words that differ'
const now = new Date()

let database: FreshDatabase
let db: Db
let deps: SignInDeps & { hasher: ReturnType<typeof createPasswordHasher> }
let hashed: string
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
  deps = newDeps()
  hashed = await deps.hasher.hash(password)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const formKey = randomBytes(32)
const newDeps = () => ({
  db,
  hasher: createPasswordHasher(),
  limits: createRateLimits(() => 0),
  masterKeys: givenMasterKeys([randomBytes(32)]),
  formKey,
})

async function addPerson(changed: Partial<User> = {}) {
  const user_id = newUserId()
  const user = {
    user_id,
    email: `${user_id}@example.com`,
    name: 'Kofi',
    lang: 'en',
    password_hash: hashed,
    operator_role: null,
    sealed_totp: null,
    totp_step: null,
    active: true,
    created_at: now,
    signed_in_at: null,
    ...changed,
  }
  await addUser(db, user)
  return user
}

const signIn = (email: string, typed: string, address: string, more: { deviceMark?: string } = {}) =>
  signInWithPassword(deps, { email, password: typed }, { address, agent: 'test', ...more }, now)

// An address and a password are compared in the same way, whoever they belong to, so that the time of an answer tells nothing.
for (const [who, typed, changed, step] of [
  ['a user', password, {}, 'done'],
  ['a user with a wrong password', 'another long password', {}, 'wrong'],
  ['an unknown address', password, undefined, 'wrong'],
  ['a deactivated user', password, { active: false }, 'wrong'],
  ['a user without a password', password, { password_hash: null }, 'wrong'],
  ['a user with a second factor', password, { sealed_totp: Buffer.from('sealed') }, 'second_factor'],
  ['an operator with a wrong password', 'another long password', { operator_role: 'admin' }, 'wrong'],
] as const)
  test(`${who}: one hash, and the answer is ${step}`, async () => {
    const { email } = changed ? await addPerson(changed) : { email: 'nobody@example.com' }
    const before = deps.hasher.count()
    expect((await signIn(email, typed, '192.0.2.1')).step).toBe(step)
    expect(deps.hasher.count() - before).toBe(1)
  })

test('an address that tries many accounts is refused, before anything is hashed, and locks nobody out', async () => {
  deps = newDeps()
  const { email } = await addPerson()
  const signedIn = await signIn(email, password, '192.0.2.7')
  const deviceMark = signedIn.step === 'done' ? signedIn.deviceMark : ''
  for (let n = 0; n < 30; n++)
    expect((await signIn(`guess${n}@example.com`, password, '192.0.2.7')).step).toBe('wrong')
  const before = deps.hasher.count()
  await expect(signIn('guess30@example.com', password, '192.0.2.7')).rejects.toMatchObject({ http: 429 })
  await expect(signIn(email, password, '192.0.2.7')).rejects.toMatchObject({ http: 429 })
  expect(deps.hasher.count()).toBe(before)
  expect((await signIn(email, password, '198.51.100.2')).step).toBe('done') // from elsewhere
  expect((await signIn(email, password, '192.0.2.7', { deviceMark })).step).toBe('done') // the own browser
})

test('however an address is spelled, its guesses count for one account', async () => {
  deps = newDeps()
  const { email } = await addPerson()
  for (let n = 0; n < 10; n++) {
    const spelled = n % 2 ? email.toUpperCase() : ` ${email} `
    expect(userEmail(spelled)).toBe(email)
    expect((await signIn(spelled, 'wrong password', `192.0.2.${n}`)).step).toBe('wrong')
  }
  await expect(signIn(email, password, '203.0.113.1')).rejects.toMatchObject({ http: 429 })
})
