import { describe, expect, test } from 'vitest'
import {
  callbacksOf,
  chargeAnswer,
  chooseEnding,
  type EndingName,
  endings,
  isWithdrawable,
  stateAt,
  waitsForPerson,
} from '../../src/sandbox/charge.ts'
import type { Charge } from '../../src/store/sandboxCharges.ts'

const noon = new Date('2026-06-01T12:00:00Z')
const later = (ms: number) => new Date(noon.getTime() + ms)

const charge = (changes: Partial<Charge> = {}): Charge => ({
  merchant_id: 'm0m0m0m0m0',
  reference: 'm0m0m0m0m0a1',
  method: 'mtn',
  payer: '233241234567',
  amount: 2500n,
  currency: 'GHS',
  payee: 'Ama Shop',
  note: null,
  ending: 'waits_for_person',
  callback_url: 'http://127.0.0.1/callback',
  return_url: 'http://127.0.0.1/checkout/t',
  decided: null,
  decided_at: null,
  card_type: null,
  card_last4: null,
  created_at: noon,
  ...changes,
})

describe('the request decides the ending', () => {
  for (const [method, total, last, voucher, ending] of [
    ['telecel', 2500n, '000', undefined, 'wrong_voucher'], // the wallet would have paid
    ['telecel', 2500n, '000', '12345', 'wrong_voucher'],
    ['telecel', 2500n, '000', '1234567', 'wrong_voucher'],
    ['telecel', 2500n, '000', '000000', 'wrong_voucher'],
    ['telecel', 1n, '000', '000000', 'timeout'], // a total takes precedence
    ['mtn', 1n, '000', undefined, 'timeout'],
    ['mtn', 2n, '000', undefined, 'network_error'],
    ['at', 3n, '000', undefined, 'no_funds'],
    ['telecel', 4n, '000', '123456', 'declined'],
    ['mtn', 5n, '002', undefined, 'delayed'],
    ['ghqr', 3n, undefined, undefined, 'no_funds'],
    ['card', 3n, undefined, undefined, 'waits_for_card'], // a card has its own table
    ['mtn', 2500n, '002', undefined, 'no_funds'],
    ['mtn', 2500n, '003', undefined, 'declined'],
    ['mtn', 2500n, '004', undefined, 'no_answer'],
    ['mtn', 2500n, '005', undefined, 'error_then_paid'],
    ['mtn', 2500n, '006', undefined, 'no_callback'],
    ['mtn', 2500n, '007', undefined, 'failed_then_paid'],
    ['mtn', 2500n, '008', undefined, 'told_often'],
    ['mtn', 2500n, '009', undefined, 'other_amount'],
    ['mtn', 2500n, '000', undefined, 'approved'],
    ['at', 2500n, '001', undefined, 'approved'],
    ['telecel', 2500n, '000', '123456', 'approved'],
    ['mtn', 2500n, '010', undefined, 'refused'],
    ['mtn', 2500n, '011', undefined, 'approved_late'],
    ['mtn', 2500n, '012', undefined, 'waits_for_person'],
    ['mtn', 6n, '567', undefined, 'waits_for_person'],
    ['ghqr', 2500n, undefined, undefined, 'waits_for_person'],
  ] as const) {
    test(`${method}, total ${total}, number ...${last ?? ''}, voucher ${voucher ?? 'none'}: ${ending}`, () => {
      const payer = last ? `233240000${last}` : null
      expect(chooseEnding({ method, amount: total, payer, voucher })).toBe(ending)
    })
  }
})

describe('the state depends on the row and the time', () => {
  for (const [ending, ms, state] of [
    ['no_funds', 599, 'PENDING'],
    ['no_funds', 600, 'FAILED NOT_ENOUGH_FUNDS'],
    ['declined', 600, 'FAILED APPROVAL_REJECTED'],
    ['wrong_voucher', 600, 'FAILED WRONG_VOUCHER'],
    ['no_answer', 9999, 'PENDING'],
    ['no_answer', 10_000, 'FAILED EXPIRED'],
    ['timeout', 19_999, 'PENDING'],
    ['timeout', 20_000, 'FAILED EXPIRED'],
    ['network_error', 0, 'PENDING 503'],
    ['network_error', 7999, 'PENDING 503'],
    ['network_error', 8000, 'FAILED NETWORK_ERROR'],
    ['error_then_paid', 1999, 'PENDING'],
    ['error_then_paid', 2000, 'SUCCESSFUL'],
    ['no_callback', 19_999, 'PENDING'],
    ['no_callback', 20_000, 'SUCCESSFUL'],
    ['failed_then_paid', 999, 'PENDING'],
    ['failed_then_paid', 1000, 'FAILED INTERNAL_PROCESSING_ERROR'],
    ['failed_then_paid', 15_999, 'FAILED INTERNAL_PROCESSING_ERROR'],
    ['failed_then_paid', 16_000, 'SUCCESSFUL'],
    ['delayed', 14_999, 'PENDING'],
    ['delayed', 15_000, 'SUCCESSFUL'],
    ['approved', 599, 'PENDING'],
    ['approved', 600, 'SUCCESSFUL'],
    ['waits_for_person', 299_999, 'PENDING'],
    ['waits_for_person', 300_000, 'FAILED EXPIRED'],
    ['waits_for_card', 899_999, 'PENDING'],
    ['waits_for_card', 900_000, 'FAILED EXPIRED'],
  ] as const) {
    test(`${ending} after ${ms} ms: ${state}`, () => {
      expect(stateText(charge({ ending }), later(ms))).toBe(state)
      expect(stateText(charge({ ending }), later(Math.round(ms * 4)), 4)).toBe(state) // and at any time scale
    })
  }

  for (const [decided, ms, state] of [
    ['person_declined', 0, 'FAILED APPROVAL_REJECTED'],
    ['card_left', 0, 'FAILED PAYER_CANCELLED'],
    ['withdrawn', 0, 'FAILED WITHDRAWN'],
    ['person_approved', 0, 'SUCCESSFUL'],
    ['person_approved', 3_600_000, 'SUCCESSFUL'], // it no longer expires
    ['card_not_honoured', 0, 'FAILED CARD_REFUSED'],
    ['card_error_then_paid', 2999, 'PENDING 500'],
    ['card_error_then_paid', 3000, 'SUCCESSFUL'],
    ['card_approved', 0, 'SUCCESSFUL'],
  ] as const) {
    test(`${decided} a minute later, and ${ms} ms after that: ${state}`, () => {
      const row = charge({ decided, decided_at: later(60_000) })
      expect(stateText(row, later(60_000 + ms))).toBe(state)
    })
  }

  for (const [what, more, ms, can] of [
    ['a prompt', {}, 299_999, true],
    ['an expired prompt', {}, 300_000, false],
    ['an answered prompt', { decided: 'person_approved', decided_at: noon }, 1000, false],
    ['a card page', { ending: 'waits_for_card' }, 1000, true],
    ['a prompt that gets no answer', { ending: 'no_answer' }, 1000, true],
    ['a charge that is paid automatically', { ending: 'no_callback' }, 1000, false],
    ['a charge that fails automatically', { ending: 'declined' }, 100, false],
  ] as const)
    test(`${what} ${can ? 'can' : 'cannot'} be withdrawn`, () =>
      expect(isWithdrawable(charge(more), later(ms))).toBe(can))

  test('a tester cannot decide a charge that answers automatically, is expired or is decided', () => {
    expect(waitsForPerson(charge({ ending: 'no_answer' }), noon)).toBe(false)
    expect(waitsForPerson(charge(), later(300_000))).toBe(false)
    expect(waitsForPerson(charge({ decided: 'person_approved', decided_at: noon }), noon)).toBe(false)
    expect(waitsForPerson(charge(), later(299_999))).toBe(true)
  })
})

describe('callbacks', () => {
  for (const [ending, expected] of [
    ['no_callback', []],
    ['timeout', []],
    ['network_error', []],
    ['error_then_paid', []],
    ['failed_then_paid', ['1000 FAILED', '16000 SUCCESSFUL']],
    ['told_often', ['600 SUCCESSFUL', '700 SUCCESSFUL', '800 SUCCESSFUL', '900 SUCCESSFUL', '1000 PENDING']],
    ['approved', ['600 SUCCESSFUL']],
    ['waits_for_person', ['300000 FAILED']],
  ] as const) {
    test(`${ending}: ${expected.join(', ') || 'none'}`, () => {
      const lines = callbacksOf(charge({ ending })).map(
        ({ at, answer }) => `${at.getTime() - noon.getTime()} ${answer.status}`,
      )
      expect(lines).toEqual(expected)
    })
  }

  test('if the time scale leaves fractions of a millisecond, each callback still reports its step', () => {
    for (const ending of Object.keys(endings) as EndingName[]) {
      const statuses = callbacksOf(charge({ ending }), 0.0123).map(({ answer }) => answer.status)
      expect(statuses).toEqual(callbacksOf(charge({ ending })).map(({ answer }) => answer.status))
    }
  })
})

test('009 charges more than was requested, and reports it only when it is paid', () => {
  const row = charge({ ending: 'other_amount' })
  expect(chargeAnswer(row, stateAt(row, noon)).amount).toBe('25.00')
  expect(chargeAnswer(row, stateAt(row, later(600)))).toMatchObject({ status: 'SUCCESSFUL', amount: '26.00' })
})

function stateText(row: Charge, now: Date, timeScale?: number) {
  const { status, reason, pollError } = stateAt(row, now, timeScale)
  return [status, reason, pollError?.http].filter(Boolean).join(' ')
}
