import { expect, test } from 'vitest'
import { decideSubmit, submissionsLeft, submissionWaitMs } from '../../../src/core/payment/customerActs.ts'
import { after, anAttempt, aPayment, hours, noon, seconds } from '../../support/payments/rows.ts'

const step = { name: 'otp', fields: [{ name: 'otp', kind: 'digits' }] } as const
const asking = (submits: number, submitted_at: Date | null) =>
  anAttempt({ state: 'needs_input', step: { ...step, fields: [...step.fields] }, submits, submitted_at })

for (const [submits, waitSeconds] of [
  [1, 5],
  [2, 15],
  [3, 30],
  [4, 60],
] as const)
  test(`after ${submits} submissions the next one waits for ${waitSeconds} seconds, and no longer`, () => {
    const attempt = asking(submits, noon)
    const typeAt = (ms: number) => decideSubmit(aPayment(), [attempt], { number: 1, submits }, {}, after(ms))
    expect(typeAt(0)).toEqual({ waitMs: seconds(waitSeconds) })
    expect(typeAt(seconds(waitSeconds) - 1)).toEqual({ waitMs: 1 })
    expect(typeAt(seconds(waitSeconds))).toMatchObject({ attempt: { submits: submits + 1 } })
  })

test('the first submission does not wait, and after the fifth there is none, however late', () => {
  expect(submissionWaitMs(asking(0, null), noon)).toBe(0)
  expect(submissionsLeft(asking(0, null))).toBe(5)
  expect(submissionsLeft(asking(5, noon))).toBe(0)
  const page = { number: 1, submits: 5 }
  expect(decideSubmit(aPayment(), [asking(5, noon)], page, {}, after(hours(24)))).toBeUndefined()
})

test('a clock that was set back makes nobody wait longer than the wait itself', () => {
  expect(submissionWaitMs(asking(1, after(hours(3))), noon)).toBe(seconds(5))
})
