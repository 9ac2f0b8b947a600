import { expect, test } from 'vitest'
import mtn from '../../../src/providers/mtn.ts'
import { readFormFields } from '../../../src/core/provider/formFields.ts'
import { isAmong, parsePhone } from '../../../src/core/phone.ts'
import { noTools } from '../../support/payments/simulatedNode.ts'

// Numbers are read by the rules of the country that an account of MTN is for.
const account = (environment: string, currency: string) =>
  mtn.open(
    {
      subscription_key: 'key',
      api_user: 'user',
      api_key: 'key',
      environment,
      currency,
      url: '',
      callbacks: 'off',
      check_holder: 'off',
    },
    noTools,
  )

const methodOf = (environment: string, currency = 'GHS') => {
  const [method] = account(environment, currency).methods
  if (!method) throw new Error('no payment method')
  return method
}

for (const [environment, currency, region, typed, phone] of [
  ['mtnghana', 'GHS', 'GH', '0244123456', '+233244123456'],
  ['mtnuganda', 'UGX', 'UG', '0712345678', '+256712345678'],
  ['mtnuganda', 'UGX', 'UG', '0772 123 456', '+256772123456'],
  ['mtnuganda', 'UGX', 'UG', '256772123456', '+256772123456'],
  ['mtnuganda', 'UGX', 'UG', '+256 (0)772 123456', '+256772123456'],
  ['mtncameroon', 'XAF', 'CM', '671 23 45 67', '+237671234567'],
  ['mtnivorycoast', 'XOF', 'CI', '05 12 34 56 78', '+2250512345678'], // the zero is a part of it
  ['mtnzambia', 'ZMW', 'ZM', '0966123456', '+260966123456'],
  ['mtnbenin', 'XOF', 'BJ', '0197123456', '+2290197123456'],
  ['mtncongo', 'XAF', 'CG', '066123456', '+242066123456'],
  ['mtnswaziland', 'SZL', 'SZ', '76123456', '+26876123456'],
  ['mtnguineaconakry', 'GNF', 'GN', '664123456', '+224664123456'],
  ['mtnsouthafrica', 'ZAR', 'ZA', '0831234567', '+27831234567'],
  ['mtnliberia', 'LRD', 'LR', '0881234567', '+231881234567'],
] as const)
  test(`${environment}: ${typed} is ${phone}`, () => {
    const method = methodOf(environment, currency)
    expect(method.numbers?.region).toBe(region)
    expect(readFormFields(method, { phone: typed })).toMatchObject({ faults: [], instrument: phone })
  })

for (const [typed, fault] of [
  ['+233244123456', 'not_a_wallet'], // a number of Ghana
  ['0712', 'not_a_phone'],
  ['07123456789', 'not_a_phone'],
  ['233244123456', 'not_a_phone'],
] as const)
  test(`mtnuganda: ${typed} is ${fault}`, () =>
    expect(readFormFields(methodOf('mtnuganda', 'UGX'), { phone: typed }).faults).toEqual([
      { field: 'phone', fault },
    ]))

test('the example of every market is a number of it', () => {
  for (const [environment, currency] of [
    ['mtnghana', 'GHS'],
    ['mtnuganda', 'UGX'],
    ['mtncameroon', 'XAF'],
    ['mtnivorycoast', 'XOF'],
    ['mtnzambia', 'ZMW'],
    ['mtnbenin', 'XOF'],
    ['mtncongo', 'XAF'],
    ['mtnswaziland', 'SZL'],
    ['mtnguineaconakry', 'GNF'],
    ['mtnsouthafrica', 'ZAR'],
    ['mtnliberia', 'LRD'],
  ] as const) {
    const { numbers, dial, network } = methodOf(environment, currency)
    if (!numbers) throw new Error(`${environment} has no numbers`)
    const phone = parsePhone(numbers.example, numbers.region)
    expect([environment, phone !== undefined && isAmong(phone, numbers)]).toEqual([environment, true])
    const isGhana = environment === 'mtnghana'
    expect([dial !== undefined, network !== undefined]).toEqual([isGhana, isGhana]) // both are Ghana's
  }
})

test('the sandbox and a market that we do not know take any number', () => {
  for (const environment of ['sandbox', 'mtnsomewhere']) {
    const method = methodOf(environment)
    expect(method.numbers).toBeUndefined()
    expect(readFormFields(method, { phone: '+46733123450' }).instrument).toBe('+46733123450')
  }
})
