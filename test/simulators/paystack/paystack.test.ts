import { expect, onTestFinished, test } from 'vitest'
import { openPaystack } from './paystack.ts'

// The simulator behaves as the real Paystack is documented to behave.
async function open() {
  const played = await openPaystack({ secretKey: 'sk_test_simulated' })
  onTestFinished(() => played.stop())
  const call = async (path: string, body?: object) => {
    const answer = await fetch(played.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: 'Bearer sk_test_simulated', 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    return ((await answer.json()) as { data?: { status?: string } }).data?.status
  }
  return { played, call }
}

test('nobody is charged before the voucher that was asked for is there', async () => {
  const { played, call } = await open()
  const phone = '0209876543'
  played.rule({ number: phone, story: { ends: 'success' } })
  const order = { reference: 'one', amount: 2500, currency: 'GHS', email: 'ama@example.test' }
  expect(await call('/charge', { ...order, mobile_money: { phone, provider: 'vod' } })).toBe('send_otp')
  expect(await call('/transaction/verify/one')).toBe('ongoing')
  await call('/charge/submit_otp', { otp: '000000', reference: 'one' })
  expect(await call('/transaction/verify/one')).toBe('ongoing')
  await call('/charge/submit_otp', { otp: '123456', reference: 'one' })
  expect(await call('/transaction/verify/one')).toBe('success')
})
