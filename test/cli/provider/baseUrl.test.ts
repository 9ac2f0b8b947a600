import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBaseUrl } from '../../../src/cli/doctor/checkAddresses.ts'
import { readConfig } from '../../../src/config.ts'
import { openPaystack, type PaystackSimulator } from '../../simulators/paystack/paystack.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'
import { newMasterKey, tollgate, tollgateJson } from '../tollgate.ts'

const callsBack = /^Live providers send callbacks to https only, and the base URL is http:/m
const masterKey = newMasterKey()
let database: FreshDatabase
beforeAll(async () => {
  database = await migratedDatabase()
})
afterAll(() => database.drop())

const simulators: PaystackSimulator[] = []
afterAll(() => Promise.all(simulators.map(one => one.stop())))

for (const [mode, settings, isWarned] of [
  ['live', {}, true],
  ['live', { TOLLGATE_BASE_URL: 'http://pay.example' }, true],
  ['live', { TOLLGATE_BASE_URL: 'https://pay.example' }, false],
  ['test', { TOLLGATE_BASE_URL: 'http://pay.example' }, false],
] as const)
  test(`provider add --mode ${mode} with ${JSON.stringify(settings)} ${isWarned ? 'warns' : 'does not warn'}`, async () => {
    const secretKey = `sk_${mode}_simulated`
    const paystack = await openPaystack({ secretKey })
    simulators.push(paystack)
    const env = { ...settings, DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: masterKey }
    const args = ['paystack', `secret_key=${secretKey}`, `url=${paystack.url}`, '--mode', mode]
    const { code, stdout } = await tollgate(env, 'provider', 'add', ...args)
    expect([code, callsBack.test(stdout)]).toEqual([0, isWarned])
    const { data } = await tollgateJson(env, 'provider', 'add', ...args)
    expect(data.advice).toEqual(isWarned ? expect.stringMatching(callsBack) : undefined)
  })

test('doctor reports the same for a public http address', () => {
  const { state, todo } = checkBaseUrl(readConfig({ TOLLGATE_BASE_URL: 'http://pay.example' }))
  expect([state, todo]).toEqual([
    'warning',
    expect.stringContaining('live providers send callbacks to https only'),
  ])
})
