import { expect, test } from 'vitest'
import { mayRedirect } from '../../../src/core/checkout/stage.ts'
import { after, minutes, noon } from '../../support/payments/rows.ts'

for (const [what, payment, now, may] of [
  ['paid just now', { status: 'paid' }, noon, true],
  ['cancelled just now', { status: 'cancelled' }, noon, true],
  ['paid while the phone slept', { status: 'paid' }, after(minutes(14)), true],
  ['paid long ago', { status: 'paid' }, after(minutes(15)), false],
  ['still awaited', { status: 'awaiting_payment' }, noon, false],
  ['failed, which may be tried again', { status: 'failed' }, noon, false],
  ['wished to be cancelled', { status: 'awaiting_payment', cancel_requested_at: noon }, noon, true],
  ['wished long ago', { status: 'awaiting_payment', cancel_requested_at: noon }, after(minutes(15)), false],
  [
    'paid after all, though the wish is old',
    { status: 'paid', cancel_requested_at: after(-minutes(60)) },
    noon,
    true,
  ],
] as const)
  test(`${what}: ${may ? 'the page that saw it leaves by itself' : 'no page leaves by itself'}`, () =>
    expect(mayRedirect({ updated_at: noon, cancel_requested_at: null, ...payment }, now)).toBe(may))
