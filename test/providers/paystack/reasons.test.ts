import { describe, expect, test } from 'vitest'
import { reasonOf, refusalOf } from '../../../src/providers/paystack/replies.ts'
import { check, orderFor } from './context.ts'
import { good, openScripted } from './scripted.ts'

describe('why it failed', () => {
  for (const [sentence, ofWallet, ofCard] of [
    ['Insufficient Funds', 'insufficient_funds', 'insufficient_funds'],
    ['LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED', 'insufficient_funds', 'insufficient_funds'],
    ['Exceeds withdrawal limit', 'limit_reached', 'limit_reached'],
    ['Declined', 'declined', 'card_declined'],
    ['Do not honour', 'refused', 'card_declined'],
    ['Transaction was cancelled by the user', 'declined', 'not_completed'],
    ['Transaction timed out', 'no_answer', 'no_answer'],
    ['Expired Card', 'no_answer', 'card_expired'],
    ['Incorrect CVV', 'refused', 'wrong_cvv'],
    ['Token Not Generated. Customer Not Registered on Token Platform', 'wrong_voucher', 'not_authenticated'],
    ['Subscriber is not registered', 'no_wallet', 'refused'],
    ['Account is inactive', 'wallet_blocked', 'refused'],
    ['Issuer or switch inoperative', 'network_error', 'network_error'],
    ['Mercury is in retrograde', 'refused', 'refused'],
    ['', 'refused', 'refused'],
  ] as const) {
    test(`"${sentence}"`, () => {
      expect(reasonOf(sentence, false)).toBe(ofWallet)
      expect(reasonOf(sentence, true)).toBe(ofCard)
    })
  }

  test('the sentence is kept beside the reason', async () => {
    const order = orderFor('mtn_mobile_money')
    const data = {
      id: 7,
      reference: order.idempotency_key,
      status: 'failed',
      gateway_response: '',
      message: 'Barred SIM',
    }
    const { account } = await openScripted({ verify: good(data), pending: good(data) })
    expect(await check(account, order)).toEqual({
      state: 'failed',
      reason: 'wallet_blocked',
      provider_ref: '7',
      psp_response_msg: 'Barred SIM',
    })
  })

  test('what depends on the hour is no plain refusal', () => {
    for (const sentence of ['Invalid key', 'Declined', 'Too many attempts', 'Insufficient funds', ''])
      expect(refusalOf(sentence)).toBeUndefined()
  })
})
