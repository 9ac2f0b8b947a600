import { expect, test } from 'vitest'
import type { Way } from '../../../src/core/channel/way.ts'
import type { Numbers } from '../../../src/core/phone.ts'
import type { Offer } from '../../../src/runtime/channels.ts'
import { faultWords, freshForm } from '../../../src/web/checkout/stages/form.ts'
import { stagePage } from '../../../src/web/checkout/stages/stagePage.tsx'
import { unbroken } from '../../../src/core/text.ts'
import { attemptFor, checkoutOf, viewOf } from '../../support/checkout.ts'

// What the page says of numbers, and fills in, is of the country of the payment method.
const uganda: Numbers = { region: 'UG', country: '256', example: '0772 123456' }
const ivoryCoast: Numbers = { region: 'CI', country: '225', example: '05 12 34 56 78' }

const [ghanaian] = checkoutOf().offers as [Offer]
const offerOf = (numbers: Way['numbers']): Offer => ({ ...ghanaian, network: undefined, numbers })
const field = 'mtn_mobile_money.phone'

for (const [words, numbers, number, typed] of [
  ['a number of Uganda, as it is dialled there', uganda, '+256772123456', '0772123456'],
  ['a number of Ivory Coast, whose zero is a part of it', ivoryCoast, '+2250512345678', '0512345678'],
  ['no number of Ghana for a wallet in Uganda', uganda, '+233244123456', undefined],
  ['a number of Ghana, as before', ghanaian.numbers, '+233244123456', '0244123456'],
  ['any number where the method takes any', undefined, '+256772123456', '+256772123456'],
] as const)
  test(`the form is filled in with ${words}`, () =>
    expect(freshForm(viewOf({ offers: [offerOf(numbers)], number }), undefined).typed[field]).toBe(typed))

test('a second try has the number of the first, as it is dialled there', () => {
  const attempts = [attemptFor({ state: 'failed', instrument: '+256772123456' })]
  const view = viewOf({ offers: [offerOf(uganda)], number: '+233244123456', attempts })
  expect(freshForm(view, 'same').typed[field]).toBe('0772123456')
})

for (const [lang, hint] of [
  ['en', '0772 123456, 256... or +256...'],
  ['fr', '0772 123456, 256... ou +256...'],
] as const)
  test(`the hint beside the field is of the country, in ${lang}`, () => {
    const page = stagePage(viewOf({ offers: [offerOf(uganda)] }, lang)).toString()
    expect(page).toContain(hint.replace(uganda.example, unbroken(uganda.example)))
    expect(page).not.toContain('+233')
  })

test('a fault shows how a number of the country is written', () => {
  const view = viewOf({ offers: [offerOf(uganda)] })
  const wordsOf = (fault: 'not_a_phone' | 'not_a_wallet') =>
    faultWords(view, offerOf(uganda), { field: 'phone', fault }).words
  expect(wordsOf('not_a_phone')).toContain(`Write it like ${unbroken('0772 123456')}.`)
  expect(wordsOf('not_a_wallet')).toContain(`a mobile number of Uganda, like ${unbroken('0772 123456')}.`)
})

test('where a method takes any number, the example is of Ghana', () => {
  const view = viewOf({ offers: [offerOf(undefined)] })
  const { words } = faultWords(view, offerOf(undefined), { field: 'phone', fault: 'not_a_phone' })
  expect(words).toContain(`Write it like ${unbroken('024 412 3456')}.`)
  expect(stagePage(view).toString()).toContain(`${unbroken('024 412 3456')}, 233... or +233...`)
})
