import { expect, test } from 'vitest'
import type { Numbers } from '../../../src/core/phone.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import { unbroken } from '../../../src/core/text.ts'
import type { AvailableMethod } from '../../../src/runtime/providers/availableMethods.ts'
import { stagePage } from '../../../src/web/checkout/checkout.tsx'
import { faultText, freshForm, inputFor } from '../../../src/web/checkout/stages/form.ts'
import { attemptFor, checkoutOf, viewOf } from '../../support/checkout/views.ts'

// The hints and examples of numbers are those of the country of the payment method.
const uganda: Numbers = { region: 'UG', country: '256', example: '0772 123456' }
const ivoryCoast: Numbers = { region: 'CI', country: '225', example: '05 12 34 56 78' }

const [ghanaian] = checkoutOf().methods as [AvailableMethod]
const offerOf = (numbers: PaymentMethod['numbers']): AvailableMethod => ({
  ...ghanaian,
  network: undefined,
  numbers,
})
const field = 'mtn_mobile_money.phone'

for (const [words, numbers, number, masked] of [
  ['a number of Uganda for a wallet there', uganda, '+256772123456', '+25 ••• 3456'],
  ['a number of Ivory Coast for a wallet there', ivoryCoast, '+2250512345678', '+22 ••• 5678'],
  ['no number of Ghana for a wallet in Uganda', uganda, '+233244123456', undefined],
  ['a number of Ghana for a wallet there', ghanaian.numbers, '+233244123456', '024 ••• 3456'],
  ['any number where the method takes any', undefined, '+256772123456', '+25 ••• 3456'],
] as const)
  test(`the form offers ${words}, masked`, () => {
    const view = viewOf({ methods: [offerOf(numbers)], number, mode: 'live' })
    const page = stagePage(view).toString()
    expect(/Pay from <strong[^>]*>([^<]+)</.exec(page)?.[1]).toBe(masked)
    expect(page).not.toContain(number.slice(-9))
    const sent = { payment_method: 'mtn_mobile_money', on_file: 'request', [field]: ' ' }
    expect(inputFor(view, 'mtn_mobile_money', sent).phone).toBe(masked ? number : '')
  })

test('a second try has the number of the first', () => {
  const attempts = [attemptFor({ state: 'failed', instrument: '+256772123456' })]
  const view = viewOf({ methods: [offerOf(uganda)], number: '+233244123456', attempts })
  expect(freshForm(view, 'same').onFile).toEqual({ from: '1', number: '+256772123456' })
})

for (const [lang, hint] of [
  ['en', '0772 123456, 256... or +256...'],
  ['fr', '0772 123456, 256... ou +256...'],
] as const)
  test(`the hint beside the field is that of the country, in ${lang}`, () => {
    const page = stagePage(viewOf({ methods: [offerOf(uganda)] }, lang)).toString()
    expect(page).toContain(hint.replace(uganda.example, unbroken(uganda.example)))
    expect(page).not.toContain('+233')
  })

test('a fault shows how a number of the country is written', () => {
  const view = viewOf({ methods: [offerOf(uganda)] })
  const textOf = (fault: 'not_a_phone' | 'not_a_wallet') =>
    faultText(view, offerOf(uganda), { field: 'phone', fault })
  expect(textOf('not_a_phone')).toContain(`Write it like ${unbroken('0772 123456')}.`)
  expect(textOf('not_a_wallet')).toContain(`a mobile number of Uganda, like ${unbroken('0772 123456')}.`)
})

test('if a method accepts any number, the example is of Ghana', () => {
  const view = viewOf({ methods: [offerOf(undefined)] })
  const text = faultText(view, offerOf(undefined), { field: 'phone', fault: 'not_a_phone' })
  expect(text).toContain(`Write it like ${unbroken('024 412 3456')}.`)
  expect(stagePage(view).toString()).toContain(`${unbroken('024 412 3456')}, 233... or +233...`)
})
