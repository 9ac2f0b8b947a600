import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkAccount } from '../../../src/actions/providers/checkAccount.ts'
import { requireNotRejected } from '../../../src/cli/provider/accountText.ts'
import type { ProviderAccount, Provider } from '../../../src/core/provider/provider.ts'
import { openAccount } from '../../../src/runtime/providers/openAccount.ts'
import { loadProviders } from '../../../src/runtime/providerAccounts.ts'
import {
  type ExampleProvider,
  exampleProviderFolder,
  exampleTools,
  openExampleProvider,
} from '../../support/providers/exampleProvider.ts'

let acme: ExampleProvider
let kind: Provider
beforeAll(async () => {
  acme = await openExampleProvider('live_right')
  kind = (await loadProviders(exampleProviderFolder())).get('acme') as Provider
})
afterAll(() => acme.close())

const check = (key: string, url = acme.url) => {
  const given = { url, key }
  return checkAccount(kind, given, openAccount('acme-000000', kind, given, exampleTools))
}

test('valid settings are good, with the provider’s message', async () => {
  const checked = await check('live_right')
  expect(checked).toEqual({ outcome: 'good', words: 'Acme knows shop 4711.' })
  expect(() => requireNotRejected(checked)).not.toThrow()
})

test('refused settings are bad, and the provider’s message is shown without the secret', async () => {
  const checked = await check('live_wrong-and-secret')
  expect(checked).toEqual({ outcome: 'bad', words: 'Acme does not know the key ….' })
  expect(() => requireNotRejected(checked)).toThrow(
    'Nothing was changed: the settings are wrong: Acme does not know the key …. Use --no-test to store them anyway.',
  )
})

test('an unreachable provider says nothing about the settings', async () => {
  const shut = await openExampleProvider()
  await shut.close()
  const checked = await check('live_right', shut.url)
  expect(checked.outcome).toBe('no_answer')
  expect(checked.words).toMatch(/ECONNREFUSED/)
  expect(() => requireNotRejected(checked)).not.toThrow()
})

test('a provider that does not answer is waited for as long as the caller can wait', async () => {
  const given = { url: 'u', key: 'live_right' }
  const account = { checkCredentials: () => new Promise<never>(() => {}) }
  expect(await checkAccount(kind, given, account, 50)).toEqual({
    outcome: 'no_answer',
    words: 'no answer in 0.05 s',
  })
})

test('an error of the check is shown without the secret', async () => {
  const given = { url: 'u', key: 'live_top-secret' }
  const account: Pick<ProviderAccount, 'checkCredentials'> = {
    checkCredentials: () => Promise.reject(new Error('at http://live_top-secret@acme')),
  }
  expect(await checkAccount(kind, given, account)).toEqual({
    outcome: 'no_answer',
    words: 'at http://…@acme',
  })
})

test('a provider without a check is reported as such', async () => {
  expect((await checkAccount(kind, {}, {})).outcome).toBe('no_check')
})
