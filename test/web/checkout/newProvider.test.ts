import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProviderAccounts } from '../../../src/runtime/providerAccounts.ts'
import { stagePage } from '../../../src/web/checkout/checkout.tsx'
import { viewOf } from '../../support/checkout/views.ts'
import { noTools } from '../../support/payments/simulatedNode.ts'

// One new file, as a developer would add it: a payment method with a new kind of field.
const acme = `
  const open = () => ({
    mode: 'test',
    account: 'acme 4711',
    startIsIdempotent: true,
    visibleWithinMs: 60_000,
    failureMayReverseForMs: 0,
    methods: [{
      payment_method: 'acme_wallet',
      label: 'Acme Wallet',
      badge: { text: 'A', background: '#123456', ink: '#ffffff' },
      currencies: ['GHS'],
      fields: [
        { name: 'phone', kind: 'phone' },
        { name: 'member', kind: 'digits', words: {
          en: { label: 'Member number', hint: 'On your card' },
          fr: { label: 'Numéro de membre' },
        } },
        { name: 'nickname', kind: 'text', optional: true },
      ],
      next: 'prompt',
      lifetimeMs: 300_000,
    }],
    start: async () => ({ state: 'pending' }),
    check: async () => ({ state: 'pending' }),
  })
  export default { settings: [{ name: 'key', words: 'The key.' }], open }`

const payment = (mode: 'test' | 'live', currency: 'GHS' | 'USD') => ({
  merchant_id: 'm',
  mode,
  currency,
  total: 2500n,
})

const folder = mkdtempSync(join(tmpdir(), 'tollgate-providers-'))
const tools = { ...noTools, tokenOf: () => noTools.token }
const open = (env: Record<string, string>, from = folder) =>
  openProviderAccounts({ env, tools, folder: pathToFileURL(`${from}/`) })

beforeAll(() => {
  writeFileSync(join(folder, 'acme.js'), acme)
  writeFileSync(join(folder, 'README.md'), 'Not a provider.')
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a new payment method is one new file, and its form is rendered from it', async () => {
  const providerAccounts = await open({ ACME_KEY: 'k' })
  const methods = providerAccounts.availableMethods(payment('test', 'GHS'))
  expect(methods.map(({ provider_account: provider, payment_method }) => [provider, payment_method])).toEqual(
    [['acme', 'acme_wallet']],
  )
  for (const [lang, label] of [
    ['en', 'Member number'],
    ['fr', 'Numéro de membre'],
  ] as const) {
    const html = stagePage(viewOf({ methods: methods }, lang), undefined).toString()
    for (const drawn of [
      'Acme Wallet',
      '#123456',
      label,
      'name="acme_wallet.phone"',
      'name="acme_wallet.member"',
    ])
      expect(html).toContain(drawn)
    expect(html).toContain('nickname') // without words of its own it still has a name
  }
})

test('a provider without the required declarations is refused', async () => {
  for (const text of [
    acme.replace(/account:.*/, ''),
    acme.replace(/account:.*/, "account: '',"),
    acme.replace(/startIsIdempotent:.*/, ''),
    acme.replace(/visibleWithinMs:.*/, ''),
    acme.replace(/lifetimeMs:.*/, ''),
  ]) {
    const other = mkdtempSync(join(tmpdir(), 'tollgate-providers-'))
    writeFileSync(join(other, 'acme.js'), text)
    const opening = open({ ACME_KEY: 'k' }, other)
    await expect(opening).rejects.toThrow('The provider acme must state its account')
    rmSync(other, { recursive: true })
  }
})

test('a provider whose refunds do not state whether repeating is safe is refused', async () => {
  const other = mkdtempSync(join(tmpdir(), 'tollgate-providers-'))
  writeFileSync(
    join(other, 'acme.js'),
    acme.replace(/(?=visibleWithinMs:)/, 'refunds: { hasPartial: true }, '),
  )
  await expect(open({ ACME_KEY: 'k' }, other)).rejects.toThrow('must state isIdempotent and hasPartial')
  rmSync(other, { recursive: true })
})

test('without its settings, in the other mode or in a currency that it does not serve it is not offered', async () => {
  expect((await open({})).availableMethods(payment('test', 'GHS'))).toEqual([])
  const providerAccounts = await open({ ACME_KEY: 'k' })
  expect(providerAccounts.availableMethods(payment('live', 'GHS'))).toEqual([])
  expect(providerAccounts.availableMethods(payment('test', 'USD'))).toEqual([])
})
