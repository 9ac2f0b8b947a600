import { describe, expect, test } from 'vitest'
import {
  type MethodQuery,
  methodCandidates,
  selectAccounts,
  isWithinLimits,
  type AccountOnOffer,
} from '../../../src/core/provider/selectAccounts.ts'
import type { AccountHealth } from '../../../src/core/provider/health.ts'
import type { AmountLimits, PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'

const wayOf = (payment_method: string): PaymentMethod =>
  ({ payment_method, currencies: ['GHS'] }) as unknown as PaymentMethod

// `mtn-op1111 of ama live: momo card`, as a person would say it.
const serving = (
  account: string,
  changed: Partial<AccountOnOffer> = {},
  ...payment_methods: string[]
): AccountOnOffer => ({
  account,
  provider: account.replace(/-\w+$/, ''),
  mode: 'live',
  merchant_id: null,
  isStored: account.includes('-'),
  isDisabled: false,
  methods: (payment_methods.length > 0 ? payment_methods : ['momo']).map(wayOf),
  ...changed,
})
const own = (account: string, ...payment_methods: string[]) =>
  serving(account, { merchant_id: 'ama' }, ...payment_methods)

const asked = (changed: Partial<MethodQuery> = {}): MethodQuery => ({
  merchant_id: 'ama',
  mode: 'live',
  currency: 'GHS',
  providers: [],
  methods: [],
  preferred: [],
  ...changed,
})

type Standings = Record<string, AccountHealth>
function served(accounts: AccountOnOffer[], changed: Partial<MethodQuery> = {}, standings: Standings = {}) {
  const candidates = methodCandidates(accounts, asked(changed))
  const stands = candidates.map(one => ({ ...one, health: standings[one.account] ?? ('healthy' as const) }))
  return selectAccounts(stands).map(({ account, method }) => `${method.payment_method} by ${account}`)
}

const testing = (account: string, ...payment_methods: string[]) =>
  serving(account, { mode: 'test' }, ...payment_methods)
const mtn = serving('mtn')
const mtn2 = serving('mtn-op1111')
const paystack = serving('paystack', {}, 'momo', 'card')
const ours = own('mtn-own111')

type Row = [string, AccountOnOffer[], Partial<MethodQuery>, Standings, string[]]

describe('account selection', () => {
  for (const [name, accounts, changed, standings, result] of [
    ['one account', [mtn], {}, {}, ['momo by mtn']],
    ['the first by name, each way once', [paystack, mtn], {}, {}, ['momo by mtn', 'card by paystack']],
    [
      'the sandbox stands in for nobody who was named',
      [testing('sandbox', 'momo', 'card'), testing('mtn')],
      { mode: 'test', providers: ['mtn'] },
      { mtn: 'down' },
      ['card by sandbox', 'momo by mtn'],
    ],
    [
      'the sandbox, named behind another',
      [testing('sandbox', 'momo'), testing('mtn')],
      { mode: 'test', providers: ['mtn', 'sandbox'] },
      { mtn: 'down' },
      ['momo by sandbox'],
    ],
    [
      'the operator prefers a provider',
      [mtn, paystack],
      { preferred: ['paystack'] },
      {},
      ['momo by paystack', 'card by paystack'],
    ],
    [
      'the operator prefers an account',
      [mtn, mtn2],
      { preferred: ['mtn-op1111'] },
      {},
      ['momo by mtn-op1111'],
    ],
    [
      'the merchant’s list counts before the operator’s',
      [mtn, paystack],
      { providers: ['paystack'], preferred: ['mtn'] },
      {},
      ['momo by paystack', 'card by paystack'],
    ],
    [
      'a name that nobody has changes nothing',
      [mtn, paystack],
      { providers: ['flutterwave'] },
      {},
      ['momo by mtn', 'card by paystack'],
    ],

    ['test payments reach no live account', [mtn], { mode: 'test' }, {}, []],
    ['live payments reach no test account', [serving('mtn', { mode: 'test' })], {}, {}, []],
    [
      'in test mode the sandbox comes first',
      [serving('mtn', { mode: 'test' }), serving('sandbox', { mode: 'test' })],
      { mode: 'test' },
      {},
      ['momo by sandbox'],
    ],
    [
      'unless somebody prefers another',
      [serving('mtn', { mode: 'test' }), serving('sandbox', { mode: 'test' })],
      { mode: 'test', preferred: ['mtn'] },
      {},
      ['momo by mtn'],
    ],

    ['a merchant’s own account serves it', [mtn, ours], {}, {}, ['momo by mtn-own111']],
    ['and nobody else', [mtn, ours], { merchant_id: 'kofi' }, {}, ['momo by mtn']],
    ['not even where the operator has none', [ours], { merchant_id: 'kofi' }, {}, []],
    [
      'not even where it is asked for by name',
      [ours],
      { merchant_id: 'kofi', providers: ['mtn-own111'] },
      {},
      [],
    ],
    [
      'where its own is down, the money goes nowhere else',
      [mtn, ours],
      {},
      { 'mtn-own111': 'down' },
      ['momo by mtn-own111'],
    ],
    [
      'ways that its own does not serve are the operator’s',
      [paystack, ours],
      {},
      {},
      ['momo by mtn-own111', 'card by paystack'],
    ],
    [
      'the operator’s account serves when the setting names it',
      [mtn2, ours],
      { providers: ['mtn-own111', 'mtn-op1111'] },
      { 'mtn-own111': 'down' },
      ['momo by mtn-op1111'],
    ],
    [
      'the operator’s account, where the merchant has none of it',
      [paystack, ours],
      { providers: ['mtn', 'paystack'] },
      { 'mtn-own111': 'down' },
      ['momo by paystack', 'card by paystack'],
    ],
    [
      'a provider’s name means its own account, not the operator’s of the same provider',
      [mtn, mtn2, ours],
      { providers: ['mtn'] },
      { 'mtn-own111': 'down' },
      ['momo by mtn-own111'],
    ],
    [
      'a disabled one of its own is not there',
      [mtn, own('mtn-own111')].map(one => ({ ...one, isDisabled: one.merchant_id !== null })),
      {},
      {},
      ['momo by mtn'],
    ],
    [
      'one of its own that cannot be opened keeps others out',
      [mtn, { ...ours, fault: 'sealed', methods: [] }],
      {},
      {},
      [],
    ],
    ['of what it served before', [paystack, { ...ours, fault: 'sealed' }], {}, {}, ['card by paystack']],
    [
      'an operator’s that cannot be opened does not',
      [{ ...mtn, fault: 'sealed' }, mtn2],
      {},
      {},
      ['momo by mtn-op1111'],
    ],

    ['slow goes behind good', [mtn, mtn2], {}, { mtn: 'degraded' }, ['momo by mtn-op1111']],
    [
      'down goes behind slow',
      [mtn, mtn2],
      {},
      { mtn: 'down', 'mtn-op1111': 'degraded' },
      ['momo by mtn-op1111'],
    ],
    [
      'as bad as each other, the order holds',
      [mtn, mtn2],
      {},
      { mtn: 'down', 'mtn-op1111': 'down' },
      ['momo by mtn'],
    ],
    [
      'a way that nobody serves well comes last',
      [mtn, serving('paystack', {}, 'card')],
      {},
      { mtn: 'degraded' },
      ['card by paystack', 'momo by mtn'],
    ],

    ['ways of the merchant’s choice alone', [mtn, paystack], { methods: ['card'] }, {}, ['card by paystack']],
    ['a currency that is not carried', [mtn], { currency: 'USD' }, {}, []],
  ] as Row[])
    test(`the account of each method: ${name}`, () =>
      expect(served(accounts, changed, standings)).toEqual(result))
})

describe('limits', () => {
  for (const [total, limits, does] of [
    [1n, undefined, true],
    [99n, { least: 100n }, false],
    [100n, { least: 100n, most: 100n }, true],
    [101n, { most: 100n }, false],
    [150n, { step: 100n }, false],
    [200n, { step: 100n }, true],
  ] as [bigint, AmountLimits | undefined, boolean][])
    test(`${total} ${Object.entries(limits ?? {})
      .flat()
      .join(' ')}`, () => expect(isWithinLimits(total, limits)).toBe(does))
})
