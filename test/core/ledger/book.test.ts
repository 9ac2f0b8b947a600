import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { balancesOf } from '../../../src/core/ledger/balance.ts'
import type { NewTransfer } from '../../../src/core/ledger/book.ts'
import { type LedgerChange, transfersOf } from '../../../src/core/ledger/bookChange.ts'
import { readMerchantSettings, type SettingTexts } from '../../../src/core/merchant/settings.ts'
import { applyReply } from '../../../src/core/payment/applyReply.ts'
import { type Attempt, isUnresolved } from '../../../src/core/payment/attempt.ts'
import type { MoneyBack } from '../../../src/core/payment/change.ts'
import { decideCloseTask } from '../../../src/core/payment/closeTask.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { Dispute, Reversal, SanitizedReply } from '../../../src/core/provider/reply.ts'
import {
  type Refund,
  refundMoves,
  type RefundSource,
  type RefundState,
} from '../../../src/core/refund/refund.ts'
import { aRefund } from '../../support/payments/refundRows.ts'
import { after, anAttempt, aPayment, minutes, noon, replyContext } from '../../support/payments/rows.ts'

// A payment with its ledger: replies are applied and booked as the program does.
function opened(texts: SettingTexts = {}, isOwnAccount = false) {
  let payment: Payment = aPayment({ total: 100_00n })
  const attempts = new Map<number, Attempt>()
  const stored = new Map<number, MoneyBack>()
  const transfers: NewTransfer[] = []
  let now = noon

  const book = (change: LedgerChange) => {
    const settings = readMerchantSettings(texts)
    transfers.push(...transfersOf({ ...change, isOwnAccount }, () => settings))
  }
  const attempt = (number = 1) => {
    const found = attempts.get(number) ?? anAttempt({ number, attempt_id: `ama0000000${number}` })
    attempts.set(number, found)
    return found
  }
  return {
    transfers,
    attempt,
    get payment() {
      return payment
    },
    stored: (number: number): MoneyBack => stored.get(number) ?? { reversals: [], disputes: [] },
    reply(reply: Partial<SanitizedReply>, number = 1) {
      now = after(minutes(1), now)
      const attemptBefore = attempt(number)
      const moneyBackBefore = this.stored(number)
      const whole = {
        state: 'paid',
        order: attemptBefore.attempt_id,
        amount: 100_00n,
        currency: 'GHS',
        ...reply,
      }
      const change = applyReply(
        payment,
        attemptBefore,
        whole as SanitizedReply,
        now,
        { ...replyContext, askedAt: now },
        moneyBackBefore,
      )
      const { moneyBack } = change
      book({
        before: payment,
        after: change.payment,
        attemptBefore,
        repliedAttempt: change.attempt,
        moneyBackBefore,
        moneyBack,
      })
      payment = change.payment
      attempts.set(number, change.attempt)
      if (moneyBack) {
        const others = moneyBackBefore.disputes.filter(
          one => !moneyBack.disputes.some(({ dispute_id }) => dispute_id === one.dispute_id),
        )
        stored.set(number, {
          reversals: [...moneyBackBefore.reversals, ...moneyBack.reversals],
          disputes: [...others, ...moneyBack.disputes],
        })
      }
    },
    giveUp(number = 1) {
      const attemptBefore = attempt(number)
      const change = decideCloseTask(payment, attemptBefore, 'amount_mismatch', '', now)
      book({ before: payment, after: change.payment, attemptBefore, repliedAttempt: change.attempt })
      payment = change.payment
      attempts.set(number, change.attempt)
    },
    refund(before: Refund | undefined, state: RefundState, more: Partial<Refund> = {}): Refund {
      now = after(minutes(1), now)
      const refund = {
        ...(before ?? aRefund({ attempt_id: 'ama00000001', amount: 40_00n })),
        ...more,
        state,
        updated_at: now,
      }
      const feeToReturn =
        texts.fee_on_refund === 'return'
          ? { fee: sumOf(transfers, 'gateway_fee'), refunded: payment.refunded_amount ?? 0n }
          : undefined
      book({ before: payment, after: payment, refund: { before, after: refund }, feeToReturn })
      if (state === 'succeeded' && refund.source === 'payment')
        payment = { ...payment, refunded_amount: (payment.refunded_amount ?? 0n) + refund.amount }
      return refund
    },
    // Amounts in pesewas; accounts without a balance are left out.
    balances(currency = 'GHS') {
      const all = balancesOf(transfers.filter(one => one.currency === currency))
      return Object.fromEntries([...all].filter(([, balance]) => balance !== 0n))
    },
  }
}

const sumOf = (transfers: readonly NewTransfer[], kind: string) =>
  transfers.filter(one => one.kind === kind).reduce((sum, { amount }) => sum + amount, 0n)

const provider = 'provider:simulated'
const reversal = (amount: bigint, id = 'r1'): Reversal => ({ id, amount, words: '' })
const dispute = (state: Dispute['state'], amount = 100_00n, id = 'd1'): Dispute => ({
  id,
  state,
  amount,
  words: '',
})

test('a recorded reversal that turns out to be a refund of ours is booked back', () => {
  const life = opened()
  life.reply({})
  const refund = life.refund(undefined, 'unknown')
  life.reply({ reversals: [reversal(40_00n)] })
  const { payment } = life
  const change: LedgerChange = {
    before: payment,
    after: payment,
    refund: { before: refund, after: { ...refund, state: 'succeeded', provider_ref: 'r1' } },
    refundedCharge: life.attempt(),
    claimedReversals: life.stored(1).reversals,
  }
  const claimed = transfersOf(change, () => readMerchantSettings({}))
  expect(balancesOf([...life.transfers, ...claimed])).toEqual(
    new Map(Object.entries({ [provider]: 60_00n, merchant: 60_00n, refunds_pending: 0n })),
  )
})

describe('a charge', () => {
  test('that pays is owed to the merchant, once', () => {
    const life = opened()
    life.reply({})
    life.reply({})
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
    expect(life.transfers.map(one => one.transfer_id)).toEqual(['TG-1/1/charge'])
  })

  for (const [bearer, balances] of [
    ['merchant', { [provider]: 98_00n, merchant: 98_00n }],
    ['operator', { [provider]: 98_00n, merchant: 100_00n, provider_fees: -2_00n }],
    ['customer', { [provider]: 98_00n, merchant: 100_00n, provider_fees: -2_00n }],
  ] as const)
    test(`with the provider's fee, which the ${bearer} bears`, () => {
      const life = opened({ provider_fee: bearer })
      life.reply({ fee: 2_00n })
      expect(life.balances()).toEqual(balances)
    })

  test('to which the provider added its fee', () => {
    const life = opened()
    life.reply({ charged: 102_00n, fee: 2_00n })
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
  })

  test('above the total by more than the fee leaves a surplus in suspense', () => {
    const life = opened()
    life.reply({ charged: 105_00n, fee: 2_00n })
    expect(life.balances()).toEqual({ [provider]: 103_00n, merchant: 100_00n, suspense: 3_00n })
  })

  test("with the operator's fee", () => {
    const life = opened({ fee: '1.5% + 0.20' })
    life.reply({})
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 98_30n, gateway_fees: 1_70n })
  })

  test('that is the second of a payment belongs to no payment, without a fee', () => {
    const life = opened({ fee: '1%' })
    life.reply({})
    life.reply({ fee: 1_00n }, 2)
    expect(life.balances()).toEqual({
      [provider]: 199_00n,
      merchant: 99_00n,
      gateway_fees: 1_00n,
      suspense: 100_00n,
      provider_fees: -1_00n,
    })
  })

  test('of another amount belongs to no payment, and is corrected if the amount changes', () => {
    const life = opened()
    life.reply({ amount: 80_00n })
    expect(life.balances()).toEqual({ [provider]: 80_00n, suspense: 80_00n })
    life.reply({ amount: 90_00n })
    expect(life.balances()).toEqual({ [provider]: 90_00n, suspense: 90_00n })
    life.reply({ amount: 80_00n })
    expect(life.balances()).toEqual({ [provider]: 80_00n, suspense: 80_00n })
    life.reply({ amount: 100_00n })
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
  })

  test('of another amount stays in suspense when an operator gives the attempt up', () => {
    const life = opened()
    life.reply({ amount: 80_00n })
    life.giveUp()
    expect(life.balances()).toEqual({ [provider]: 80_00n, suspense: 80_00n })
  })

  test('in another currency is booked in that currency', () => {
    const life = opened()
    life.reply({ currency: 'USD' })
    expect([life.balances('USD'), life.balances()]).toEqual([{ [provider]: 100_00n, suspense: 100_00n }, {}])
    life.reply({})
    expect([life.balances('USD'), life.balances()]).toEqual([{}, { [provider]: 100_00n, merchant: 100_00n }])
  })

  test('after the attempt had failed pays late', () => {
    const life = opened()
    life.reply({ state: 'failed', reason: 'declined' })
    life.reply({})
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
  })

  test('of an unreadable amount is not booked', () => {
    const life = opened()
    life.reply({ state: 'paid_mismatch', words: '' })
    expect(life.transfers).toEqual([])
  })

  for (const amount of [30_00n, 100_00n])
    test(`that was reversed by ${amount} before it was reported paid`, () => {
      const life = opened()
      life.reply({ reversals: [reversal(amount)] })
      const left = 100_00n - amount
      expect(life.balances()).toEqual(left > 0n ? { [provider]: left, suspense: left } : {})
      life.reply({ reversals: [reversal(amount)] })
      expect(life.transfers).toHaveLength(2)
    })
})

describe('money that the provider takes back', () => {
  test('is a reversal of the merchant’s money', () => {
    const life = opened()
    life.reply({})
    life.reply({ reversals: [reversal(30_00n)] })
    expect(life.balances()).toEqual({ [provider]: 70_00n, merchant: 70_00n })
  })

  test('is a reversal of the money in suspense', () => {
    const life = opened()
    life.reply({})
    life.reply({}, 2)
    life.reply({ reversals: [reversal(100_00n)] }, 2)
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
  })

  test('is held while a dispute is open', () => {
    const life = opened()
    life.reply({})
    life.reply({ disputes: [dispute('open', 60_00n)] })
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 40_00n, suspense: 60_00n })
    life.reply({ disputes: [dispute('won', 60_00n)] })
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
  })

  for (const [opening, lost] of [
    [60_00n, 60_00n],
    [60_00n, 50_00n],
    [60_00n, 70_00n],
    [undefined, 60_00n],
  ] as const)
    test(`is ${lost} by a lost dispute, opened about ${opening ?? 'nothing before'}`, () => {
      const life = opened()
      life.reply({})
      if (opening) life.reply({ disputes: [dispute('open', opening)] })
      life.reply({ disputes: [dispute('lost', lost)] })
      expect(life.balances()).toEqual({ [provider]: 100_00n - lost, merchant: 100_00n - lost })
    })

  test('is never more than the charge: a lost dispute may also be listed as a reversal', () => {
    const life = opened()
    life.reply({})
    life.reply({ disputes: [dispute('open')] })
    life.reply({ disputes: [dispute('lost')], reversals: [reversal(100_00n)] })
    expect(life.balances()).toEqual({})
  })
})

const paid = (texts: SettingTexts = {}, isOwn = false) => {
  const life = opened(texts, isOwn)
  life.reply({})
  return life
}

describe('a refund', () => {
  test('is held from the request, and leaves the provider when it succeeds', () => {
    const life = paid()
    const requested = life.refund(undefined, 'requested')
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 60_00n, refunds_pending: 40_00n })
    const pending = life.refund(requested, 'pending')
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 60_00n, refunds_pending: 40_00n })
    life.refund(pending, 'succeeded')
    expect(life.balances()).toEqual({ [provider]: 60_00n, merchant: 60_00n })
  })

  test('that fails is given back, and taken again if it succeeds after all', () => {
    const life = paid()
    const failed = life.refund(life.refund(undefined, 'requested'), 'failed')
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
    life.refund(failed, 'succeeded')
    expect(life.balances()).toEqual({ [provider]: 60_00n, merchant: 60_00n })
  })

  test('of kind manual is paid from the bank', () => {
    const life = paid()
    life.refund(life.refund(undefined, 'needs_action', { kind: 'manual' }), 'succeeded')
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 60_00n, bank: -40_00n })
  })

  test('of a duplicate charge is paid from suspense', () => {
    const life = paid()
    life.reply({}, 2)
    const part = { source: 'surplus', attempt_id: 'ama00000002', amount: 100_00n } as const
    life.refund(life.refund(undefined, 'requested', part), 'succeeded')
    expect(life.balances()).toEqual({ [provider]: 100_00n, merchant: 100_00n })
  })

  test('of the fee that the customer bore is paid from the fees', () => {
    const life = opened()
    life.reply({ charged: 102_00n, fee: 2_00n })
    life.refund(life.refund(undefined, 'requested', { source: 'fee', amount: 2_00n }), 'succeeded')
    expect(life.balances()).toEqual({ [provider]: 98_00n, merchant: 100_00n, provider_fees: -2_00n })
  })

  test('returns its share of the operator’s fee, if it is set so', () => {
    const life = paid({ fee: '1% + 0.01', fee_on_refund: 'return' })
    life.refund(life.refund(undefined, 'requested', { amount: 33_33n }), 'succeeded')
    expect(life.balances()).toEqual({ [provider]: 66_67n, merchant: 66_00n, gateway_fees: 67n })
    const rest = { amount: 66_67n, refund_reference: 'ama0000000r2' }
    life.refund(life.refund(undefined, 'requested', rest), 'succeeded')
    expect(life.balances()).toEqual({})
  })
})

describe("through the merchant's own account", () => {
  test('nothing is payable but the fee', () => {
    const life = opened({ fee: '1%', provider_fee: 'operator' }, true)
    life.reply({ fee: 2_00n })
    life.reply({}, 2)
    life.reply({ reversals: [reversal(10_00n)], disputes: [dispute('open', 5_00n)] })
    life.reply({ reversals: [reversal(10_00n)], disputes: [dispute('lost', 5_00n)] })
    const requested = life.refund(undefined, 'requested')
    expect(life.balances()).toEqual({ merchant: -1_00n, gateway_fees: 1_00n })
    life.refund(requested, 'succeeded')
    expect(life.balances()).toEqual({ merchant: -1_00n, gateway_fees: 1_00n })
    expect(sumOf(life.transfers, 'charge')).toBe(200_00n)
  })
})

// Random replies and refunds: what the ledger has at the provider is what the records say.
const amounts = fc.bigInt(1n, 150_00n)
const replies = fc.oneof(
  fc.record({
    amount: fc.constantFrom(100_00n, 80_00n, 90_00n),
    fee: fc.option(fc.bigInt(0n, 3_00n), { nil: undefined }),
  }),
  fc.record({ charged: fc.constantFrom(100_00n, 102_00n, 105_00n), fee: fc.constantFrom(2_00n, undefined) }),
  fc.record({
    reversals: fc.uniqueArray(
      amounts.map(amount => reversal(amount, `r${amount % 3n}`)),
      { selector: one => one.id, maxLength: 2 },
    ),
    disputes: fc.uniqueArray(
      fc
        .tuple(amounts, fc.constantFrom('open', 'won', 'lost'))
        .map(([amount, state]) => dispute(state, amount, `d${amount % 2n}`)),
      { selector: one => one.id, maxLength: 2 },
    ),
  }),
  fc.constant({ state: 'failed', reason: 'declined' } as const),
  fc.constant({ state: 'paid_mismatch', words: '' } as const),
)
const refundActs = fc.record({
  amount: amounts,
  source: fc.constantFrom<RefundSource>('payment', 'surplus', 'fee'),
  states: fc.array(
    fc.constantFrom<RefundState>('pending', 'unknown', 'needs_action', 'succeeded', 'failed'),
    {
      maxLength: 4,
    },
  ),
})
const acts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom(1, 2, 3), replies) },
    { weight: 1, arbitrary: refundActs },
    { weight: 1, arbitrary: fc.constantFrom('give up' as const) },
  ),
  { maxLength: 25 },
)

test('the ledger has at the provider what was charged minus fees, refunds, reversals and lost disputes', () => {
  fc.assert(
    fc.property(
      acts,
      fc.constantFrom('', '1.5% + 0.20'),
      fc.constantFrom('merchant', 'operator'),
      (all, fee, bearer) => {
        const life = opened({ ...(fee && { fee }), provider_fee: bearer })
        let refunded = 0n
        let refunds = 0
        for (const act of all) {
          if (act === 'give up') {
            if (isUnresolved(life.attempt(1))) life.giveUp(1)
          } else if (Array.isArray(act)) life.reply(act[1], act[0])
          else {
            const { amount, source, states } = act
            const refund_reference = `ama0000000r${refunds++}`
            let refund = life.refund(undefined, 'requested', { amount, source, refund_reference })
            for (const state of states)
              if (refundMoves[refund.state].includes(state)) {
                refund = life.refund(refund, state)
                if (state === 'succeeded') refunded += amount
              }
          }
          expect(life.balances()[provider] ?? 0n).toBe(expectedAt(life) - refunded)
        }
        const ids = life.transfers.map(one => one.transfer_id)
        expect(new Set(ids).size).toBe(ids.length)
      },
    ),
    { numRuns: 500 },
  )
})

// By the records, without the ledger.
function expectedAt({ attempt, stored }: ReturnType<typeof opened>): bigint {
  return [1, 2, 3].reduce((sum, number) => {
    const { charged, fee } = attempt(number)
    if (charged === null) return sum
    const { reversals, disputes } = stored(number)
    const out = [...reversals, ...disputes.filter(({ state }) => state === 'lost')].reduce(
      (taken, { amount }) => taken + amount,
      0n,
    )
    return sum + charged - (fee ?? 0n) - (out < charged ? out : charged)
  }, 0n)
}
