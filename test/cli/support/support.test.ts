import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../support/database/database.ts'
import { type Env, newMasterKey, tollgate, tollgateJson } from '../tollgate.ts'

let database: FreshDatabase
let env: Env
beforeAll(async () => {
  database = await freshDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newMasterKey() }
})
afterAll(() => database.drop())

const password = 'a password of sixteen'

test('support token prints the token alone, the same each time, also before the first start', async () => {
  const { code, stdout, stderr } = await tollgate(env, 'support', 'token')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^[\w-]{32}\n$/)
  expect(await tollgateJson(env, 'support', 'token')).toMatchObject({
    code: 0,
    data: { token: stdout.trim(), token_is_set: false },
  })
})

test('support token prints TOLLGATE_SUPPORT_TOKEN if it is set, and a note', async () => {
  const set = { ...env, TOLLGATE_SUPPORT_TOKEN: password }
  expect((await tollgate(set, 'support', 'token')).stdout).toBe(`${password}\n`)
  const { data } = await tollgateJson(set, 'support', 'token')
  expect(data).toEqual({ token: password, token_is_set: true })
})

test('support link prints another link each time, at the address of the gateway', async () => {
  const { code, stdout, stderr } = await tollgate(env, 'support', 'link')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(
    /^Open this link in a browser\. It works once, within 15 minutes, and keeps this browser signed in for 7 days\.\n\n {2}http:\/\/127\.0\.0\.1:8080\/support\/enter\?link=[\w-]{22}\n\nWhile the dashboard has no account, it also offers to create the operator's\.\n$/,
  )
  const based = { ...env, TOLLGATE_BASE_URL: 'https://pay.example', PORT: '0' }
  const [one, other] = [
    await tollgateJson(based, 'support', 'link'),
    await tollgateJson(based, 'support', 'link'),
  ]
  expect(one.data).toEqual({
    link: expect.stringMatching(/^https:\/\/pay\.example\/support\/enter\?link=[\w-]{22}$/),
    expires_at: expect.stringMatching(/Z$/),
    token_is_set: false,
  })
  expect(other.data.link).not.toBe(one.data.link)
})

test('support link notes that TOLLGATE_SUPPORT_TOKEN is set', async () => {
  const set = { ...env, TOLLGATE_SUPPORT_TOKEN: password }
  const { stdout } = await tollgate(set, 'support', 'link')
  expect(stdout).toContain('TOLLGATE_SUPPORT_TOKEN is set')
  expect(stdout).not.toContain(password)
  expect((await tollgateJson(set, 'support', 'link')).data.token_is_set).toBe(true)
})

test('support link requires an address if PORT is 0', async () => {
  const { code, stdout, stderr } = await tollgate({ ...env, PORT: '0' }, 'support', 'link')
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^PORT is 0, .*: set PORT or TOLLGATE_BASE_URL, and run this again\.\n$/)
})

test('a master key that did not seal the token is refused, with the id of the key', async () => {
  const { code, stderr } = await tollgate({ ...env, TOLLGATE_MASTER_KEY: newMasterKey() }, 'support', 'token')
  expect(code).toBe(78)
  expect(stderr).toContain('which this Tollgate does not have')
})

test('master-key rotate seals the token with the new key, and the token stays', async () => {
  const { stdout: before } = await tollgate(env, 'support', 'token')
  const [old, newer] = [env.TOLLGATE_MASTER_KEY, newMasterKey()]
  const both = { ...env, TOLLGATE_MASTER_KEY: `${newer},${old}` }
  expect((await tollgate(both, 'master-key', 'rotate')).code).toBe(0)
  const { code, stdout } = await tollgate({ ...env, TOLLGATE_MASTER_KEY: newer }, 'support', 'token')
  expect([code, stdout]).toEqual([0, before])
  expect((await tollgate(env, 'support', 'token')).code).toBe(78)
})
